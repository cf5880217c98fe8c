#include "framework/record/published/open_alignments.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

// The datasets of one module, each with the number of values that its axes ask for.
class Module {
 public:
  Module(const std::filesystem::path& file, const Hdf5Reader& hdf5, const std::string& name)
      : file_(file), hdf5_(hdf5), group_("alignments/" + name + "/") {}

  template <class T>
  std::vector<T> get(const std::string& name, Index count) const {
    Values values = hdf5_.read(group_ + name);
    auto* typed = std::get_if<std::vector<T>>(&values);
    if (!typed || (count >= 0 && std::ssize(*typed) != count))
      throw damaged_record(file_, group_ + name + " is not as a record has it");
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

}  // namespace

std::vector<std::string> StoredAlignments::modules() const {
  return hdf5_.exists("alignments") ? hdf5_.children("alignments") : std::vector<std::string>{};
}

std::vector<Index> StoredAlignments::sentences(const std::string& module) const {
  const auto found = Module(file_, hdf5_, module).get<std::int32_t>("sentence", -1);
  return {found.begin(), found.end()};
}

std::vector<Index> StoredAlignments::heads(const std::string& module) const {
  const auto found = Module(file_, hdf5_, module).get<std::int32_t>("head", -1);
  return {found.begin(), found.end()};
}

std::vector<Alignment> StoredAlignments::of_sentence(const std::string& name,
                                                     Index sentence) const {
  const std::vector<Index> all = sentences(name);
  const auto place = std::find(all.begin(), all.end(), sentence);
  if (place == all.end())
    throw DataError("{}: no sentence {} in {}", file_.string(), sentence, name);
  const Index i = place - all.begin();

  const Module module(file_, hdf5_, name);
  const std::vector<Dimension> dims = hdf5_.dims(module.group() + "weights");
  if (dims.size() != 5 || dims[1].size != std::ssize(all))
    throw damaged_record(file_, module.group() + "weights has other axes than a record's");
  const Index n = dims[1].size, tgt = dims[3].size, src = dims[4].size;
  const auto updates = module.get<std::int64_t>("update", dims[0].size);
  const auto heads = module.get<std::int32_t>("head", dims[2].size);
  const auto src_len = module.get<std::int32_t>("src_len", n);
  const auto tgt_len = module.get<std::int32_t>("tgt_len", dims[0].size * n);
  const auto src_tokens = module.get<std::string>("src_tokens", n * src);
  const auto tgt_tokens = module.get<std::string>("tgt_tokens", dims[0].size * n * tgt);
  std::vector<std::uint8_t> gold;
  if (module.has("gold")) gold = module.get<std::uint8_t>("gold", n * tgt * src);
  const auto length = [&](std::int32_t given, Index most) {
    if (given < 0 || given > most)
      throw damaged_record(file_, module.group() + " has sentences longer than its axes");
    return Index{given};
  };

  const Index width = length(src_len[usize(i)], src);
  std::vector<Alignment> found;
  for (Index u = 0; u < dims[0].size; ++u) {
    const Index height = length(tgt_len[usize(u * n + i)], tgt);
    for (Index h = 0; h < dims[2].size && height > 0; ++h) {
      Alignment a;
      a.module = name;
      a.update = updates[usize(u)];
      a.sentence = sentence;
      a.head = heads[usize(h)];
      a.source = row(src_tokens, i, src, width);
      a.target = row(tgt_tokens, u * n + i, tgt, height);
      a.weights =
          hdf5_.read_block(module.group() + "weights", {u, i, h, 0, 0}, {1, 1, 1, height, width});
      for (Index t = 0; t < height && !gold.empty(); ++t) {
        const auto from = gold.begin() + (i * tgt + t) * src;
        a.gold.insert(a.gold.end(), from, from + width);
      }
      found.push_back(std::move(a));
    }
  }
  return found;
}

}  // namespace softalign
