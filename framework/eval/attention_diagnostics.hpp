// What is read off a row of attention weights: how spread it is, where it points, and whether that
// is where a known link says. A row is the weights with which one target token was predicted, over
// the sentence's own source positions: no padding.
#pragma once

#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/alignments.hpp"
#include "framework/eval/matches.hpp"

namespace softalign {

// The weights of one step.
std::vector<real> row_of(const AlignmentMatrix& matrix, Index step);

// -sum w ln w in nats, of weights [S] that sum to 1: 0 when all weight is on one position, ln S
// when it is spread evenly.
double entropy(std::span<const real> weights);

// Positions of the largest weight: one, or all that share it; none where all weights are 0, or even over several
// positions. Throws BugError for an empty row.
std::vector<Index> points_at(std::span<const real> weights);

// Where target words point when pieces are joined: nowhere, where each of a word's rows points nowhere.
std::vector<std::vector<Index>> words_point_at(const AlignmentMatrix& pieces,
                                               const WordGroups& words);

// Of the target tokens that have a sure link, how many point at source positions that they are all surely
// linked to: an even row is wrong, and right where a word has many links. pointed[j]: where target token j
// points. Links may come in any order. Throws BugError when a link lies outside of `pointed`.
Count point_count(std::vector<std::vector<Index>> pointed, std::span<const Link> links);

}  // namespace softalign
