#include "framework/record/published/alignments.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "framework/base/elementary.hpp"
#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/publish.hpp"

namespace softalign {

void write_alignment_record(FileSystem& files,
                            const std::filesystem::path& path,
                            const std::string& run_id,
                            std::vector<Alignment> alignments) {
  std::vector<Frame> frames;
  for (Alignment& alignment : alignments) frames.emplace_back(std::move(alignment));
  Hdf5Writer file;
  file.attributes("",
                  JsonObject{{"format", kAlignmentFormat},
                             {"run_id", run_id},
                             {"created", utc_time(unix_time())},
                             {"framework_version", build_info().version}});
  write_alignments(file, frames);
  files.write_atomically(path, file.image());
}

bool is_alignment_record(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  const JsonObject root = Hdf5Reader(path).attributes("");
  const auto format = root.find("format");
  return format != root.end() && *format == kAlignmentFormat;
}

AlignmentRecord::AlignmentRecord(const std::filesystem::path& path) : file_(path), hdf5_(path) {
  check_format(file_, hdf5_, kAlignmentFormat);
  run_id_ = hdf5_.attribute<std::string>("", "run_id").value_or("");
  created_ = hdf5_.attribute<std::string>("", "created").value_or("");
}

namespace {

// The datasets of one module, each checked for the number of values that its axes require.
class ModuleReader {
 public:
  ModuleReader(const std::filesystem::path& file, const Hdf5Reader& hdf5, const std::string& name)
      : file_(file), hdf5_(hdf5), group_("alignments/" + name + "/") {}

  template <class T>
  std::vector<T> get(const std::string& name, Index count) const {
    Values values = hdf5_.read(group_ + name);
    auto* typed = std::get_if<std::vector<T>>(&values);
    if (!typed || (count >= 0 && std::ssize(*typed) != count))
      throw damaged_value(file_, group_ + name);
    return std::move(*typed);
  }
  bool has(const std::string& name) const { return hdf5_.exists(group_ + name); }
  const std::string& group() const { return group_; }

 private:
  const std::filesystem::path& file_;
  const Hdf5Reader& hdf5_;
  std::string group_;
};

std::vector<std::string> row(const std::vector<std::string>& all, Index at, Index width, Index n) {
  const auto from = all.begin() + at * width;
  return {from, from + n};
}

// A module without its weights, which are read on demand.
class AlignmentContents {
 public:
  AlignmentContents(const std::filesystem::path& file,
                    const Hdf5Reader& hdf5,
                    const std::string& name)
      : file_(file), hdf5_(hdf5), name_(name), module_(file, hdf5, name) {
    const std::vector<Dimension> dims = hdf5_.dims(module_.group() + "weights");
    sentences_ = module_.get<std::int32_t>("sentence", -1);
    if (dims.size() != 5 || dims[1].size != std::ssize(sentences_))
      throw damaged_record(file_, module_.group() + "weights has other axes than in a record");
    n_ = dims[1].size, tgt_ = dims[3].size, src_ = dims[4].size;
    updates_ = module_.get<std::int64_t>("update", dims[0].size);
    heads_ = module_.get<std::int32_t>("head", dims[2].size);
    src_len_ = module_.get<std::int32_t>("src_len", n_);
    tgt_len_ = module_.get<std::int32_t>("tgt_len", dims[0].size * n_);
    src_tokens_ = module_.get<std::string>("src_tokens", n_ * src_);
    tgt_tokens_ = module_.get<std::string>("tgt_tokens", dims[0].size * n_ * tgt_);
    if (module_.has("gold")) gold_ = module_.get<std::uint8_t>("gold", n_ * tgt_ * src_);
  }

  const std::vector<std::int32_t>& sentences() const { return sentences_; }

  // Returns the alignments of the i-th sentence.
  std::vector<Alignment> at(Index i) const {
    const Index width = length(src_len_[usize(i)], src_);
    std::vector<Alignment> found;
    for (Index u = 0; u < std::ssize(updates_); ++u) {
      const Index height = length(tgt_len_[usize(u * n_ + i)], tgt_);
      for (Index h = 0; h < std::ssize(heads_) && height > 0; ++h) {
        Alignment a;
        a.module = name_;
        a.update = updates_[usize(u)];
        a.sentence = sentences_[usize(i)];
        a.head = heads_[usize(h)];
        a.source = row(src_tokens_, i, src_, width);
        a.target = row(tgt_tokens_, u * n_ + i, tgt_, height);
        a.weights = hdf5_.read_block(
            module_.group() + "weights", {u, i, h, 0, 0}, {1, 1, 1, height, width});
        for (Index t = 0; t < height && !gold_.empty(); ++t) {
          const auto from = gold_.begin() + (i * tgt_ + t) * src_;
          a.gold.insert(a.gold.end(), from, from + width);
        }
        found.push_back(std::move(a));
      }
    }
    return found;
  }

 private:
  Index length(std::int32_t given, Index most) const {
    if (given < 0 || given > most)
      throw damaged_record(file_, module_.group() + " has sentences longer than its axes");
    return given;
  }

  const std::filesystem::path& file_;
  const Hdf5Reader& hdf5_;
  const std::string& name_;
  ModuleReader module_;
  Index n_ = 0, tgt_ = 0, src_ = 0;
  std::vector<std::int32_t> sentences_, heads_, src_len_, tgt_len_;
  std::vector<std::int64_t> updates_;
  std::vector<std::string> src_tokens_, tgt_tokens_;
  std::vector<std::uint8_t> gold_;
};

}  // namespace

std::vector<std::string> StoredAlignments::modules() const {
  return hdf5_.exists("alignments") ? hdf5_.children("alignments") : std::vector<std::string>{};
}

std::vector<Index> StoredAlignments::sentences(const std::string& module) const {
  const auto found = ModuleReader(file_, hdf5_, module).get<std::int32_t>("sentence", -1);
  return {found.begin(), found.end()};
}

std::vector<Index> StoredAlignments::heads(const std::string& module) const {
  const auto found = ModuleReader(file_, hdf5_, module).get<std::int32_t>("head", -1);
  return {found.begin(), found.end()};
}

std::vector<Index> StoredAlignments::updates(const std::string& module) const {
  return ModuleReader(file_, hdf5_, module).get<std::int64_t>("update", -1);
}

std::vector<Alignment> StoredAlignments::of_sentence(const std::string& name,
                                                     Index sentence) const {
  const AlignmentContents contents(file_, hdf5_, name);
  const auto place = std::ranges::find(contents.sentences(), sentence);
  if (place == contents.sentences().end())
    throw DataError("{}: no sentence {} in {}", file_.string(), sentence, name);
  return contents.at(place - contents.sentences().begin());
}

void StoredAlignments::each_sentence(
    const std::string& name,
    const std::function<void(Index, const std::vector<Alignment>&)>& take) const {
  const AlignmentContents contents(file_, hdf5_, name);
  for (Index i = 0; i < std::ssize(contents.sentences()); ++i)
    take(contents.sentences()[usize(i)], contents.at(i));
}

namespace {

// Returns the index of each sorted value: 500, 1000 -> 0, 1.
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

// Returns -sum w ln w of each row of [T, S], in nats.
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
  std::map<std::string, std::map<Place, const Alignment*>> modules;  // the last one for each index
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
