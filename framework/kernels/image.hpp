// Images for convolutions: the neighbourhood of each pixel as a row of a matrix, and max pooling. An
// image is [width, height, channels], column by column.
#pragma once

#include "framework/base/types.hpp"

namespace softalign::kernels {

struct ImageSize {
  Index width, height, channels;
  Index pixels() const { return width * height; }
  Index size() const { return width * height * channels; }
  ImageSize halved() const { return {(width + 1) / 2, (height + 1) / 2, channels}; }
};

// The square of `side` columns and rows around each pixel, 0 beyond the image, as its row of
// patches [width * height, side * side * channels]. side: odd.
void gather_patches(ImageSize n, Index side, const real* x, real* patches);
void gather_patch(ImageSize n, Index side, const real* x, Index pixel, real* patch);  // one row
// dx += what gather_patches took from there.
void add_patches(ImageSize n, Index side, const real* dpatches, real* dx);

// y, of size n.halved(): the largest of each 2 x 2 pixels, of fewer at an odd edge.
void max_pool_forward(ImageSize n, const real* x, real* y);
// dx += dy at the first pixel that holds the largest.
void max_pool_backward(ImageSize n, const real* x, const real* y, const real* dy, real* dx);

}  // namespace softalign::kernels
