#!/usr/bin/env python3
"""Makes framework/eval/unicode_categories.cpp: which code points are punctuation, symbols, numbers. Run by hand, never by the tests.

    freeze_categories.py > framework/eval/unicode_categories.cpp

Needs the Python package regex, by which sacreBLEU's tokenisation intl knows them, and clang-format.
"""

import subprocess
import sys
import textwrap

import regex

KINDS = {"kPunctuation": "P", "kSymbols": "S", "kNumbers": "N"}


def ranges(kind: str) -> list[tuple[int, int]]:
    """First and last code point of each run."""
    is_one = regex.compile(rf"\p{{{kind}}}")
    found: list[tuple[int, int]] = []
    for point in range(0x110000):
        if 0xD800 <= point < 0xE000 or not is_one.match(chr(point)):
            continue
        if found and found[-1][1] == point - 1:
            found[-1] = (found[-1][0], point)
        else:
            found.append((point, point))
    return found


def main() -> None:
    tables = ""
    for name, kind in KINDS.items():
        numbers = ", ".join(f"{{0x{first:X}, 0x{last:X}}}" for first, last in ranges(kind))
        tables += f"// General category {kind}.\nconstexpr Range {name}[] = {{\n{textwrap.fill(numbers, 96)}}};\n\n"
    text = f"""// Made by tests/eval/freeze_categories.py, with regex {regex.__version__}.
#include <algorithm>

#include "framework/eval/text_metrics.hpp"

namespace softalign {{
namespace {{

struct Range {{
  char32_t first, last;
}};

// clang-format off
{tables}// clang-format on

template <std::size_t N>
bool is_in(const Range (&ranges)[N], char32_t point) {{
  const Range* behind = std::upper_bound(
      ranges, ranges + N, point, [](char32_t p, const Range& range) {{ return p < range.first; }});
  return behind != ranges && point <= behind[-1].last;
}}

}}  // namespace

bool is_punctuation(char32_t code_point) {{ return is_in(kPunctuation, code_point); }}
bool is_symbol(char32_t code_point) {{ return is_in(kSymbols, code_point); }}
bool is_number(char32_t code_point) {{ return is_in(kNumbers, code_point); }}

}}  // namespace softalign
"""
    done = subprocess.run(["clang-format-14"], input=text, capture_output=True, text=True, check=True)
    sys.stdout.write(done.stdout)


if __name__ == "__main__":
    main()
