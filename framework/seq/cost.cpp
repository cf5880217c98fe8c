#include "framework/seq/cost.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/kernels/work.hpp"

namespace softalign {

Cost cost_of(const Model& model, const Batch& batch) {
  const UncomputedProducts products;
  WeightPacks packs;
  Tape tape(Tape::Mode::train);
  tape.collect_gradients(packs);
  const Work before = work_of_thread();
  model.output_layer().prepare(model.teach(tape, batch, {}).output());
  const Work after = work_of_thread();
  Cost cost;
  cost.target_symbols =
      std::accumulate(batch.target_lengths.begin(), batch.target_lengths.end(), Index{0});
  cost.projection = cost.target_symbols * model.output_layer().multiplications();
  cost.multiplications = after.multiplications - before.multiplications + cost.projection;
  cost.energies = after.energies - before.energies;
  cost.activations = static_cast<Index>(tape.peak_bytes());
  return cost;
}

Cost cost_of(const ModelOptions& options,
             const SourceFormat& source,
             Index target_symbols,
             const CostLengths& lengths) {
  Model model(options, source, target_symbols);
  allocate_unlearnt(model.parameters());
  const Index positions = (lengths.source - 1) * source.frames.height + 1, first = 0;
  Batch batch = make_batch(equal_sentences(1, positions, lengths.target, source.frames),
                           {&first, 1},
                           model.batch_parts());
  model.place_links(batch);
  return cost_of(model, batch);
}

void allocate_unlearnt(ParameterStore& parameters) {
  parameters.allocate_zeros();
  for (const Parameter& parameter : parameters.all())
    if (parameter.shape.rank() == 1)  // norms and gains
      std::ranges::fill(parameter.value(), real(0.01));
}

Split equal_sentences(Index count, Index source, Index target, const FrameFormat& frames) {
  const Index length = frames ? std::max(frames.height, source - 1) : source - 1;
  const std::vector<Token> from(usize(frames ? 0 : length), kSpecials),
      to(usize(std::max<Index>(0, target - 1)), kSpecials);
  const std::vector<float> numbers(usize(length * frames.size));
  std::vector<Link> links;
  for (Index t = 0; t < target - 1; ++t) links.push_back({std::min(t, length - 1), t});
  Split split{.name = {}, .examples = Examples(frames), .counts = {}};
  for (Index i = 0; i < count; ++i)
    split.examples.append({.source = from, .target = to, .links = links, .frames = numbers});
  return split;
}

}  // namespace softalign
