// Datasets that are made once and kept: the first who asks makes a file in the cache folder, every
// later one maps it.
//
//   return cached_dataset(identity, [&](Dataset& data, const Emit& emit) {
//     data.source = ...;
//     for (...) emit(data.train, {source, target, links, source_text, target_text});
//   }, progress);
//
// Examples are views into the mapped file, which is checked whole at every opening; batches are read
// with pread, because one page fault makes up to 2 MiB around it resident. A run holds 8 bytes a
// training pair (the plan of an epoch; 20 while it is made), a first run 32 until the file is written.
#pragma once

#include <functional>
#include <string>

#include "framework/data/dataset.hpp"

namespace softalign {

// Adds an example, which is copied, to one of the dataset's splits.
using Emit = std::function<void(Split&, const Example&)>;
// Fills a dataset: the splits' names before their first example, the rest in any order; the
// examples by emitting them.
using MakeDataset = std::function<void(Dataset&, const Emit&)>;

// The dataset that `make` makes, from the cache where it is there: then nothing of `make` is done.
// `identity` names it: everything that any bit of it depends on must be in this text. Of processes
// that ask at once one makes it while the others wait. A damaged file is made again; where no file
// can be kept, the examples stay in memory (`make` may be called twice). `notes` says so.
Dataset cached_dataset(const std::string& identity,
                       const MakeDataset& make,
                       const Progress& progress);

// Whether that dataset lies in the cache.
bool is_cached(const std::string& identity);

}  // namespace softalign
