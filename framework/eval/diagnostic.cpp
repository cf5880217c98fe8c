#include "framework/eval/diagnostic.hpp"

#include "framework/base/types.hpp"

namespace softalign {

Index each_sentence(const Probed& probed,
                    Index count,
                    const std::function<void(Index i, const Batch& batch)>& see) {
  const std::span<const ExampleRow> rows = probed.split.examples.rows();
  std::vector<Index> seen;
  for (Index at = 0; at < std::ssize(rows) && std::ssize(seen) < count; ++at)
    if (rows[usize(at)].target > 0) seen.push_back(at);
  probed.workers.run(std::ssize(seen), [&](Index i) {
    probed.check_stop();
    see(i, make_batch(probed.split, std::span(seen).subspan(usize(i), 1)));
  });
  return std::ssize(seen);
}

}  // namespace softalign
