#!/usr/bin/env python3
"""Makes framework/data/unicode_compositions.cpp, the characters that Unicode can also write as two. Run by hand, never by the tests.

    freeze_compositions.py > framework/data/unicode_compositions.cpp

Hangul syllables follow a rule instead of a table.
"""

import textwrap
import unicodedata


def compositions() -> list[tuple[int, int, int]]:
    """Returns each character that NFC leaves unchanged and NFD decomposes into two, with the two parts of its canonical decomposition."""
    found = []
    for point in range(0x110000):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<") and unicodedata.normalize("NFC", chr(point)) == chr(point):
            found.append((point, int(parts[0], 16), int(parts[1], 16)))
    return found


def main() -> None:
    rows = ", ".join(f"{{0x{whole:X}, 0x{base:X}, 0x{mark:X}}}" for whole, base, mark in compositions())
    print(f"""// Made by tests/data/freeze_compositions.py, with Unicode {unicodedata.unidata_version}.
#include "framework/data/text_facts.hpp"

namespace softalign {{

// clang-format off
constexpr Composition kCompositions[] = {{
{textwrap.fill(rows, 96, break_long_words=False)}}};
// clang-format on

std::span<const Composition> compositions() {{ return kCompositions; }}

}}  // namespace softalign""")


if __name__ == "__main__":
    main()
