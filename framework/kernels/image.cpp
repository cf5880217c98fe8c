#include "framework/kernels/image.hpp"

#include <algorithm>
#include <limits>

namespace softalign::kernels {
namespace {

// Calls run(at, offset, size) for the parts of a patch inside the image, and gap(offset, size) for
// those outside. at: offset in the image; offset: in the patch. A patch's column is contiguous in
// both.
template <class Run, class Gap>
void walk_patch(ImageSize n, Index side, Index x, Index y, Run run, Gap gap) {
  const Index half = side / 2, c = n.channels;
  const Index above = std::max<Index>(0, half - y);
  const Index below = std::max<Index>(0, y + half + 1 - n.height);
  for (Index k = 0; k < side; ++k) {
    const Index column = x + k - half, offset = k * side * c;
    if (column < 0 || column >= n.width || above + below >= side) {
      gap(offset, side * c);
      continue;
    }
    gap(offset, above * c);
    const Index inside = side - above - below;
    run((column * n.height + y - half + above) * c, offset + above * c, inside * c);
    gap(offset + (side - below) * c, below * c);
  }
}

// The pixels, of one channel, whose maximum is a pooled number.
struct Window {
  Index left, top, right, bottom, height, channels, channel;

  // Calls f(offset) for each number of the window until it returns true.
  template <class F>
  void walk(F f) const {
    for (Index x = left; x < right; ++x)
      for (Index y = top; y < bottom; ++y)
        if (f((x * height + y) * channels + channel)) return;
  }
};

// Calls f(window, out) for each number of the pooled image; out: its offset.
template <class F>
void walk_windows(ImageSize n, F f) {
  const Index cells = n.halved().height;
  for (Index out = 0; out < n.halved().size(); ++out) {
    const Index cell = out / n.channels, left = cell / cells * 2, top = cell % cells * 2;
    f(Window{left,
             top,
             std::min(left + 2, n.width),
             std::min(top + 2, n.height),
             n.height,
             n.channels,
             out % n.channels},
      out);
  }
}

}  // namespace

void gather_patches(ImageSize n, Index side, const real* x, real* patches) {
  const Index size = side * side * n.channels;
  for (Index p = 0; p < n.pixels(); ++p) gather_patch(n, side, x, p, patches + p * size);
}

void gather_patch(ImageSize n, Index side, const real* x, Index pixel, real* patch) {
  walk_patch(
      n,
      side,
      pixel / n.height,
      pixel % n.height,
      [=](Index at, Index offset, Index count) { std::copy_n(x + at, count, patch + offset); },
      [=](Index offset, Index count) { std::fill_n(patch + offset, count, real{0}); });
}

void add_patches(ImageSize n, Index side, const real* dpatches, real* dx) {
  const Index size = side * side * n.channels;
  for (Index p = 0; p < n.pixels(); ++p) {
    const real* patch = dpatches + p * size;
    walk_patch(
        n,
        side,
        p / n.height,
        p % n.height,
        [=](Index at, Index offset, Index count) {
          for (Index i = 0; i < count; ++i) dx[at + i] += patch[offset + i];
        },
        [](Index, Index) {});
  }
}

void max_pool_forward(ImageSize n, const real* x, real* y) {
  walk_windows(n, [=](const Window& window, Index out) {
    y[out] = std::numeric_limits<real>::lowest();
    window.walk([=](Index at) {
      y[out] = std::max(y[out], x[at]);
      return false;
    });
  });
}

void max_pool_backward(ImageSize n, const real* x, const real* y, const real* dy, real* dx) {
  walk_windows(n, [=](const Window& window, Index out) {
    window.walk([=](Index at) {
      if (x[at] != y[out]) return false;
      dx[at] += dy[out];
      return true;
    });
  });
}

}  // namespace softalign::kernels
