// What is read off a row of attention weights: how spread it is, where it points, and whether that
// is where a known link says. A row is the weights with which one target token was predicted, over
// the sentence's own source positions: no padding.
#pragma once

#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/sentence_result.hpp"

namespace softalign {

// -sum w ln w in nats, of weights [S] that sum to 1: 0 when all weight is on one position, ln S
// when it is spread evenly.
double entropy(std::span<const real> weights);

// Position of the largest value, the first among equals. Throws BugError for an empty row.
Index argmax(std::span<const real> values);

// Of the target tokens that have a sure link, how many point at a source position they are surely
// linked to. pointed[j]: where target token j points (an attention's or an aligner's argmax). Links
// may come in any order. Throws BugError when a link lies outside of `pointed`.
Count point_count(const std::vector<Index>& pointed, std::span<const Link> links);

}  // namespace softalign
