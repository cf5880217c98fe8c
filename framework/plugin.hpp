// The only header that a plugin of a model includes; a metric, task, search, optimiser or schedule includes
// its kind's alone. It declares nothing of its own.
#pragma once

#include "framework/autodiff/rematerialize.hpp"
#include "framework/kernels/work.hpp"
#include "framework/nn/gated_convolution.hpp"
#include "framework/nn/layers.hpp"
#include "framework/nn/recurrent.hpp"
#include "framework/nn/transformer.hpp"
#include "framework/ops/cross_entropy.hpp"
#include "framework/ops/ops.hpp"
#include "framework/seq/attention.hpp"
#include "framework/seq/attentional_decoder.hpp"
#include "framework/seq/decoder.hpp"
#include "framework/seq/encoder.hpp"
#include "framework/seq/luong_decoder.hpp"
#include "framework/seq/output_layer.hpp"
#include "framework/seq/recurrent_encoder.hpp"
#include "framework/seq/score.hpp"
