#include "tests/bench/workload.hpp"

#include <fmt/format.h>

#include "framework/base/random.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign::bench {

Workload workload(const std::string& name) {
  const Workload all[] = {
      {"small", 256, 256, 8000, 64, 20, 20},
      {"medium", 512, 512, 10000, 64, 25, 25},
      {"long", 256, 256, 8000, 64, 80, 80},
      {"paper", 620, 1000, 30000, 80, 30, 30},
      {"luong",
       256,
       256,
       8000,
       64,
       20,
       20,
       "encoder: {type: lstm, layers: 2, direction: forward, units: 256}\n"
       "attention: {type: global, score: dot}\n"
       "decoder: {type: luong_lstm, layers: 2, units: 256}\n"},
      {"transformer",
       256,
       256,
       8000,
       64,
       30,
       30,
       "encoder: {type: self_attention, layers: 3, heads: 4, units: 256, feed_forward: 1024}\n"
       "attention: built_in\n"
       "decoder: {type: transformer, layers: 3, heads: 4, units: 256, feed_forward: 1024}\n"},
      {"tiny", 32, 32, 100, 16, 6, 6}};
  for (const Workload& one : all)
    if (one.name == name) return one;
  throw SpecError("no configuration '{}': small, medium, long, paper, luong, transformer or tiny",
                  name);
}

ModelOptions Workload::model(bool attention) const {
  const std::string size = fmt::format("embedding: {}\n", embedding);
  if (!other_model.empty()) return parse_spec<ModelOptions>(size + other_model, name).spec;
  const std::string attends =
      attention ? fmt::format("{{type: global, score: {{type: additive, units: {}}}}}", units)
                : "{type: none}";
  return parse_spec<ModelOptions>(
             fmt::format("{}"
                         "encoder: {{type: gru, units: {}}}\n"
                         "attention: {}\n"
                         "decoder: {{type: attentional_gru, units: {}, readout: maxout}}\n",
                         size,
                         units,
                         attends,
                         units),
             name)
      .spec;
}

std::vector<Batch> Workload::batch(Index parts) const {
  std::vector<Batch> cut;
  const RandomStream stream(1, "bench");
  std::uint64_t drawn = 0;
  const auto words = static_cast<std::uint32_t>(vocabulary - 3);
  const auto symbols = [&](Index rows, Index steps, std::vector<Token>& to) {
    for (Index i = 0; i < rows * steps; ++i)
      to.push_back(static_cast<Token>(3 + stream.below(words, drawn++)));
  };
  for (Index s = 0; s < parts; ++s) {
    Batch batch;
    batch.rows = (s + 1) * sentences / parts - s * sentences / parts;
    batch.source_steps = source;
    batch.target_steps = target;
    symbols(batch.rows, source, batch.source);
    symbols(batch.rows, target, batch.target_out);
    for (Index row = 0; row < batch.rows; ++row) {
      const auto first = batch.target_out.begin() + row * target;
      batch.target_in.push_back(kBegin);
      batch.target_in.insert(batch.target_in.end(), first, first + target - 1);
      batch.source_lengths.push_back(source);
      batch.target_lengths.push_back(target);
      batch.example.push_back(0);
    }
    cut.push_back(std::move(batch));
  }
  return cut;
}

}  // namespace softalign::bench
