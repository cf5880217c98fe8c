#include "framework/kernels/image.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

using kernels::ImageSize;

void check_images(Var x, std::span<const Index> widths, std::string_view op) {
  ops::require(x.shape().rank() == 4 && x.shape()[0] == static_cast<Index>(widths.size()),
               op,
               "images must be [B,W,H,C] with a width for each of B",
               x);
}

// Allocates images, with zeros after the valid columns of each.
View images(Tape& tape, const Shape& shape, std::span<const Index> widths, bool halved) {
  View all = tape.allocate(shape);
  const Index column = shape[2] * shape[3], image = shape[1] * column;
  for (Index b = 0; b < shape[0]; ++b) {
    const Index width = widths[usize(b)];
    const Index valid = (halved ? (width + 1) / 2 : width) * column;
    std::fill_n(all.data + b * image + valid, image - valid, real{0});
  }
  return all;
}

}  // namespace

// The convolution is a product of the patches [W H, k k C] of each image with w. Backward gathers the patches
// again, which costs less than storing them: they are k² times as large as the images.
struct Patches {
  const real* x;  // [B, W, H, C]
  Index side, image, height, channels;
  const Index* widths;

  ImageSize size(Index b) const { return {widths[b], height, channels}; }
  static void row(const void* self, Index b, Index pixel, real* to) {
    const Patches& p = *static_cast<const Patches*>(self);
    kernels::gather_patch(p.size(b), p.side, p.x + b * p.image, pixel, to);
  }
};

Var conv2d(Var x, Var w, Var bias, std::span<const Index> widths) {
  check_images(x, widths, "conv2d");
  ops::require(w.shape().rank() == 4 && w.shape()[0] == w.shape()[1] && w.shape()[0] % 2 == 1 &&
                   w.shape()[2] == x.shape()[3] && bias.shape().size() == w.shape()[3],
               "conv2d",
               "w must be [k,k,C,K] for images [B,W,H,C], k odd, bias [K]",
               x,
               w,
               bias);
  Tape& tape = x.tape();
  const Index side = w.shape()[0], in = w.shape().rows(), out = w.shape()[3];
  const Index height = x.shape()[2], channels = x.shape()[3], pixels = x.shape()[1] * height;
  const auto image = [=](std::size_t b) { return ImageSize{widths[b], height, channels}; };
  View y = images(tape, x.shape().with_last(out), widths, false);
  const Arena::Mark mark = tape.arena().mark();
  View patches = tape.allocate({pixels, in});
  for (std::size_t b = 0; b < widths.size(); ++b) {
    const ImageSize n = image(b);
    const Index before = static_cast<Index>(b) * pixels;
    kernels::gather_patches(n, side, x.value().data + before * channels, patches.data);
    gemm(Matrix{patches.data, n.pixels(), in},
         Matrix{w.value().data, in, out},
         false,
         y.data + before * out,
         out,
         bias.value().data);
  }
  tape.arena().rewind(mark);
  return tape.expendable(tape.record(y, {x, w, bias}, [=, &tape](View dy) {
    View dx = x.gradient();
    if (w.needs_gradient() || bias.needs_gradient()) {
      tape.keep_gradient();
      const auto sentences = std::ssize(widths);
      Index* valid = tape.arena().array_of<Index>(sentences);
      for (Index b = 0; b < sentences; ++b) valid[b] = widths[usize(b)] * height;
      const Patches* all = tape.arena().make<Patches>(
          x.value().data, side, pixels * channels, height, channels, widths.data());
      const SentenceRows d{dy.data, out, sentences, pixels, pixels * out, out, valid};
      tape.add_weight_product(w, MadeRows{Patches::row, all}, d);
      tape.add_row_sum(bias, d);
    }
    if (!dx) return;
    const Arena::Mark begin = tape.arena().mark();
    View scratch = tape.allocate({pixels, in});
    for (std::size_t b = 0; b < widths.size(); ++b) {
      const ImageSize n = image(b);
      const Index before = static_cast<Index>(b) * pixels;
      const Matrix d{dy.data + before * out, n.pixels(), out};
      gemm(d, Matrix{w.value().data, in, out}.transpose(), false, scratch.data, in);
      kernels::add_patches(n, side, scratch.data, dx.data + before * channels);
    }
    tape.arena().rewind(begin);
  }));
}

Var max_pool2d(Var x, std::span<const Index> widths) {
  check_images(x, widths, "max_pool2d");
  const ImageSize whole{x.shape()[1], x.shape()[2], x.shape()[3]}, half = whole.halved();
  const auto image = [=](std::size_t b) {
    return ImageSize{widths[b], whole.height, whole.channels};
  };
  View y = images(x.tape(), {x.shape()[0], half.width, half.height, half.channels}, widths, true);
  for (std::size_t b = 0; b < widths.size(); ++b) {
    const Index i = static_cast<Index>(b);
    kernels::max_pool_forward(
        image(b), x.value().data + i * whole.size(), y.data + i * half.size());
  }
  return x.tape().record(y, {x}, [=](View dy) {
    for (std::size_t b = 0; b < widths.size(); ++b) {
      const Index i = static_cast<Index>(b);
      kernels::max_pool_backward(image(b),
                                 x.value().data + i * whole.size(),
                                 y.data + i * half.size(),
                                 dy.data + i * half.size(),
                                 x.gradient().data + i * whole.size());
    }
  });
}

}  // namespace softalign
