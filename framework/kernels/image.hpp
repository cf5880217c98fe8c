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

// Copies the square of `side` columns and rows around each pixel, 0 beyond the image, to its row of
// patches [width * height, side * side * channels]. side: odd.
void gather_patches(ImageSize n, Index side, const real* x, real* patches);
void gather_patch(ImageSize n, Index side, const real* x, Index pixel, real* patch);  // one row
// Adds dpatches to dx where gather_patches copied from x.
void add_patches(ImageSize n, Index side, const real* dpatches, real* dx);

// y, of size n.halved(): the maximum of each 2 x 2 pixels, or of fewer at an odd edge.
void max_pool_forward(ImageSize n, const real* x, real* y);
// dx += dy at the first pixel that holds the maximum.
void max_pool_backward(ImageSize n, const real* x, const real* y, const real* dy, real* dx);

}  // namespace softalign::kernels
