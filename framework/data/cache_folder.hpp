// Where things are kept that can be made again: tokenised text, hashes of files. All of it may be
// removed at any time.
#pragma once

#include <filesystem>
#include <optional>

namespace softalign {

// $SOFTALIGN_CACHE, or else $XDG_CACHE_HOME/softalign, or else $HOME/.cache/softalign. Nothing when
// SOFTALIGN_CACHE is set and empty, or when none of them is set: then nothing is kept. It need not
// exist.
std::optional<std::filesystem::path> cache_folder();

}  // namespace softalign
