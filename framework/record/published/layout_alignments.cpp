#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/record/published/layout.hpp"

namespace softalign {
namespace {

// The places of sorted values: 500, 1000 -> 0, 1.
std::map<Index, Index> places(const std::set<Index>& values) {
  std::map<Index, Index> place;
  for (Index value : values) place.emplace(value, static_cast<Index>(place.size()));
  return place;
}

template <class T>
std::vector<T> keys(const std::map<Index, Index>& places) {
  std::vector<T> values;
  for (const auto& [value, place] : places) values.push_back(static_cast<T>(value));
  return values;
}

std::size_t at(Index row, Index columns, Index column) { return usize(row * columns + column); }

// -sum w ln w of each row of [T, S], in nats.
std::vector<float> entropy(const Alignment& a) {
  std::vector<float> result;
  const std::size_t width = a.source.size();
  for (std::size_t t = 0; t < a.target.size(); ++t) {
    double sum = 0;
    for (std::size_t s = 0; s < width; ++s) {
      const float w = a.weights[t * width + s];
      if (w > 0) sum -= static_cast<double>(w * exact::log(w));
    }
    result.push_back(static_cast<float>(sum));
  }
  return result;
}

class ModuleWriter {
 public:
  explicit ModuleWriter(const std::vector<const Alignment*>& matrices) : matrices_(matrices) {
    std::set<Index> updates, sentences, heads;
    for (const Alignment* a : matrices) {
      updates.insert(a->update);
      sentences.insert(a->sentence);
      heads.insert(a->head);
      src_ = std::max(src_, static_cast<Index>(a->source.size()));
      tgt_ = std::max(tgt_, static_cast<Index>(a->target.size()));
    }
    updates_ = places(updates);
    sentences_ = places(sentences);
    heads_ = places(heads);
  }

  void write(Hdf5Writer& file, const std::string& group) const {
    write_axes(file, group);
    write_matrices(file, group);
    write_words(file, group);
    write_gold(file, group);
  }

 private:
  Dimension update() const { return {"update", static_cast<Index>(updates_.size())}; }
  Dimension sentence() const { return {"sentence", static_cast<Index>(sentences_.size())}; }
  Dimension head() const { return {"head", static_cast<Index>(heads_.size())}; }
  Dimension tgt() const { return {"tgt", tgt_}; }
  Dimension src() const { return {"src", src_}; }

  void write_axes(Hdf5Writer& file, const std::string& group) const {
    file.dataset(group + "/update", {update()}, keys<std::int64_t>(updates_));
    file.dataset(group + "/sentence", {sentence()}, keys<std::int32_t>(sentences_));
    file.dataset(group + "/head", {head()}, keys<std::int32_t>(heads_));
    file.attributes(group + "/update", {{"long_name", "optimizer update"}});
    file.attributes(group,
                    {{"NX_class", "NXdata"},
                     {"signal", "weights"},
                     {"axes", {"update", "sentence", "head", "tgt", "src"}}});
  }

  void write_matrices(Hdf5Writer& file, const std::string& group) const {
    const std::string weights = group + "/weights", entropies = group + "/entropy";
    file.nan_array(weights, {update(), sentence(), head(), tgt(), src()}, {1, 1, 1, tgt_, src_});
    file.nan_array(
        entropies, {update(), sentence(), head(), tgt()}, {1, sentence().size, head().size, tgt_});
    file.attributes(weights, {{"interpretation", "image"}, {"long_name", "attention weight"}});
    file.attributes(entropies, {{"units", "nat"}});
    for (const Alignment* a : matrices_) {
      const std::vector<Index> start{
          updates_.at(a->update), sentences_.at(a->sentence), heads_.at(a->head)};
      const auto t = static_cast<Index>(a->target.size());
      const auto s = static_cast<Index>(a->source.size());
      if (t == 0 || s == 0) continue;
      file.write_block(weights, {start[0], start[1], start[2], 0, 0}, {1, 1, 1, t, s}, a->weights);
      file.write_block(entropies, {start[0], start[1], start[2], 0}, {1, 1, 1, t}, entropy(*a));
    }
  }

  void write_words(Hdf5Writer& file, const std::string& group) const {
    const auto n = usize(sentence().size);
    const auto rows = usize(update().size) * n;
    std::vector<std::int32_t> src_len(n), tgt_len(rows);
    std::vector<std::string> src_tokens(n * usize(src_));
    std::vector<std::string> tgt_tokens(rows * usize(tgt_));
    for (const Alignment* a : matrices_) {
      const Index i = sentences_.at(a->sentence);
      const std::size_t row = at(updates_.at(a->update), sentence().size, i);
      src_len[usize(i)] = static_cast<std::int32_t>(a->source.size());
      tgt_len[row] = static_cast<std::int32_t>(a->target.size());
      std::copy(a->source.begin(),
                a->source.end(),
                src_tokens.begin() + static_cast<std::ptrdiff_t>(i * src_));
      std::copy(a->target.begin(),
                a->target.end(),
                tgt_tokens.begin() + static_cast<std::ptrdiff_t>(row) * tgt_);
    }
    file.dataset(group + "/src_len", {sentence()}, src_len);
    file.dataset(group + "/tgt_len", {update(), sentence()}, tgt_len);
    file.dataset(group + "/src_tokens", {sentence(), src()}, src_tokens);
    file.dataset(group + "/tgt_tokens", {update(), sentence(), tgt()}, tgt_tokens);
  }

  void write_gold(Hdf5Writer& file, const std::string& group) const {
    std::vector<std::uint8_t> gold(usize(sentence().size * tgt_ * src_));
    bool known = false;
    for (const Alignment* a : matrices_) {
      if (a->gold.empty()) continue;
      known = true;
      const auto width = static_cast<std::ptrdiff_t>(a->source.size());
      for (std::size_t t = 0; t < a->target.size(); ++t) {
        const auto from = a->gold.begin() + static_cast<std::ptrdiff_t>(t) * width;
        const Index row = sentences_.at(a->sentence) * tgt_ + static_cast<Index>(t);
        std::copy(from, from + width, gold.begin() + row * src_);
      }
    }
    if (!known) return;
    file.dataset(group + "/gold", {sentence(), tgt(), src()}, gold);
    file.attributes(group + "/gold",
                    {{"flag_values", {0, 1, 2}}, {"flag_meanings", "none possible sure"}});
  }

  std::vector<const Alignment*> matrices_;
  std::map<Index, Index> updates_, sentences_, heads_;
  Index src_ = 1, tgt_ = 1;
};

}  // namespace

void write_alignments(Hdf5Writer& file, const std::vector<Frame>& frames) {
  using Place = std::tuple<Index, Index, Index>;
  std::map<std::string, std::map<Place, const Alignment*>> modules;  // the last of a place stands
  for (const Frame& frame : frames)
    if (const auto* a = std::get_if<Alignment>(&frame))
      modules[a->module][{a->update, a->sentence, a->head}] = a;
  for (const auto& [name, by_place] : modules) {
    std::vector<const Alignment*> matrices;
    for (const auto& [place, matrix] : by_place) matrices.push_back(matrix);
    ModuleWriter(matrices).write(file, "alignments/" + name);
  }
}

}  // namespace softalign
