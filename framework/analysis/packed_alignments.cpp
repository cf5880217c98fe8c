#include "framework/analysis/packed_alignments.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/analysis/export_links.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/record/published/alignments.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {
namespace {

// A pool of distinct texts, by number.
class Pool {
 public:
  // Adds tokens joined by newlines; newlines inside tokens become blanks.
  Index add(const std::vector<std::string>& tokens) {
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      text += i > 0 ? "\n" : "";
      for (const char c : tokens[i]) text += c == '\n' ? ' ' : c;
    }
    return add(std::move(text));
  }
  Index add(std::string text) {
    const auto [found, is_new] = numbers_.emplace(std::move(text), std::ssize(texts_));
    if (is_new) {
      texts_.push_back(found->first);
      size_ += found->first.size();
    }
    return found->second;
  }
  std::size_t size() const { return size_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, Index> numbers_;
  std::vector<std::string> texts_;
  std::size_t size_ = 0;
};

// Returns "encoder", "decoder", "searched", "dev" or "forced".
const char* kind_of(const std::string& module) {
  if (module.ends_with("_search")) return "searched";
  switch (alignment_kind(module)) {
    case AlignmentKind::encoder:
      return "encoder";
    case AlignmentKind::decoder:
      return "decoder";
    case AlignmentKind::dev:
      return "dev";
    default:
      return "forced";
  }
}

// Rounds a number to the four decimals that a page shows.
JsonObject rounded(double value) { return std::round(1e4 * value) / 1e4; }

// Returns 2 * index for a possible link and 2 * index + 1 for a sure one; the index counts row by row.
JsonObject links_of(const Alignment& a) {
  JsonObject links = JsonObject::array();
  for (std::size_t i = 0; i < a.gold.size(); ++i)
    if (a.gold[i] > 0) links.push_back(2 * i + (a.gold[i] == 2 ? 1 : 0));
  return links;
}

// Adds the loss of a test sentence, and the accuracy for the pane's way of decoding (searched or forced).
void add_scores(const StoredResults* results, Index sentence, JsonObject& pane) {
  if (split_of(pane["module"].get<std::string>()) == "dev" || !results ||
      results->counts.sentences() == 0)
    return;
  const char* accuracy = pane["kind"] == "searched" ? "free_running_accuracy" : "token_accuracy";
  for (const auto& [name, metric] : {std::pair("loss", "loss"), std::pair("accuracy", accuracy)})
    pane[name].push_back(sentence < results->counts.sentences()
                             ? rounded(results->value(metric, {sentence}))
                             : JsonObject());
}

// Adds a sentence's matrices, by update and head. Returns their packed size in bytes.
std::size_t add_sentence(const std::vector<Alignment>& found, Pool& pool, JsonObject& pane) {
  std::size_t size = 0;
  pane["sentence"].push_back(found.front().sentence);
  pane["source"].push_back(pool.add(found.front().source));
  JsonObject gold = JsonObject::array();
  for (std::size_t u = 0; u < pane["updates"].size(); ++u) {
    double sum = 0, count = 0;
    JsonObject target;
    for (std::size_t h = 0; h < pane["heads"].size(); ++h) {
      const auto a = std::ranges::find_if(found, [&](const Alignment& one) {
        return one.update == pane["updates"][u] && one.head == pane["heads"][h];
      });
      JsonObject pack;
      if (a != found.end()) {
        target = pool.add(a->target);
        gold = links_of(*a);
      }
      if (a != found.end() &&
          std::ranges::all_of(a->weights, [](float w) { return std::isfinite(w); })) {
        pack = packed(a->weights);
        size += pack.get_ref<const std::string&>().size();
        sum += entropy(a->weights) / static_cast<double>(a->target.size());  // per row, in nats
        ++count;
      }
      pane["weights"][u][h].push_back(std::move(pack));
    }
    pane["target"][u].push_back(target.is_null() ? JsonObject(pool.add(std::string())) : target);
    pane["entropy"][u].push_back(rounded(sum / count));
  }
  if (!found.back().gold.empty()) pane["gold"].push_back(std::move(gold));
  return size;
}

// Fills a pane with a module of a run. Returns the packed size of its matrices in bytes.
std::size_t make_pane(const AlignedRun& run,
                      const StoredAlignments& alignments,
                      const std::string& module,
                      const std::vector<Index>& wanted,
                      Index every,
                      Pool& pool,
                      JsonObject& pane) {
  const std::vector<Index> heads = alignments.heads(module), all = alignments.sentences(module);
  const std::vector<Index> updates = alignments.updates(module);
  const JsonObject none = JsonObject::array(), a_list_each(updates.size(), none);
  pane = {{"run", run.run},
          {"file", run.file.string()},
          {"module", module},
          {"kind", kind_of(module)},
          {"set", run.set + "|" + split_of(module)},
          {"updates", updates},
          {"heads", heads},
          {"sentence", none},
          {"source", none},
          {"target", a_list_each},
          {"weights", JsonObject(updates.size(), JsonObject(heads.size(), none))},
          {"entropy", a_list_each},
          {"images", nullptr},
          {"gold", nullptr}};
  std::size_t size = 0;
  const auto take = [&](Index number, const std::vector<Alignment>& found) {
    if (number % every != 0 || found.empty()) return;
    size += add_sentence(found, pool, pane);
    add_scores(run.results, number, pane);
  };
  if (wanted.empty()) {
    alignments.each_sentence(module, take);
    return size;
  }
  pane["kept"] = all;
  for (const Index number : wanted)
    if (std::ranges::count(all, number) > 0) take(number, alignments.of_sentence(module, number));
  return size;
}

// Adds the source images of a pane: ink in 36 steps, 0..z, column by column, and the position in the matrices of each
// pixel of the widest image.
void add_images(const Record& record, Pool& pool, JsonObject& pane) {
  const std::string group = "images/" + split_of(pane["module"].get<std::string>());
  if (!record.has(group + "/pixels") || pane["sentence"].empty()) return;
  const auto damaged = [&] { return damaged_value(record.file(), group); };
  const Values pixels = record.array(group, "pixels").values,
               width = record.array(group, "width").values,
               position = record.array(group, "position").values;
  const auto* grey = std::get_if<std::vector<std::uint8_t>>(&pixels);
  const auto* widths = std::get_if<std::vector<std::int32_t>>(&width);
  const auto* positions = std::get_if<std::vector<std::int32_t>>(&position);
  const Index height = record.attribute<Index>(group, "height").value_or(0),
              levels = record.attribute<Index>(group, "levels").value_or(0);
  if (!grey || !widths || !positions || height < 1 || levels < 2 ||
      std::ssize(*grey) != std::ssize(*widths) * std::ssize(*positions))
    throw damaged();
  JsonObject inks = JsonObject::array();
  Index most = 0;
  for (const JsonObject& sentence : pane["sentence"]) {
    const auto number = sentence.get<Index>();
    if (number < 0 || number >= std::ssize(*widths)) return;  // its image is not stored
    const Index w = (*widths)[usize(number)], stride = std::ssize(*positions);
    if (w < 1 || w > stride / height) throw damaged();
    std::string ink;
    for (Index i = 0; i < w * height; ++i) {
      const double share =
          std::min(1.0, (*grey)[usize(number * stride + i)] / static_cast<double>(levels - 1));
      ink += "0123456789abcdefghijklmnopqrstuvwxyz"[std::lround(35 * share)];
    }
    most = std::max(most, w * height);
    inks.push_back(pool.add(std::move(ink)));
  }
  pane["images"] = {{"height", height},
                    {"position", std::vector(positions->begin(), positions->begin() + most)},
                    {"pixels", std::move(inks)}};
}

// Returns the first test sentences of a run, up to `bytes` of hypotheses; null if there are none. Undefined scores of a
// sentence are null.
JsonObject translated(const AlignedRun& run, const Record& record, std::size_t bytes, Pool& pool) {
  const auto source = test_texts(record, "source"), reference = test_texts(record, "reference"),
             hypothesis = test_texts(record, "hypothesis");
  const JsonObject none = JsonObject::array();
  JsonObject json = {{"run", run.run},
                     {"set", run.set + "|test"},
                     {"sentence", none},
                     {"source", none},
                     {"reference", none},
                     {"hypothesis", none},
                     {"of", hypothesis.size()}};
  std::size_t size = 0;
  for (std::size_t i = 0; i < std::min(hypothesis.size(), kTranslated); ++i) {
    if ((size += hypothesis[i].size()) > bytes || i >= source.size()) break;
    json["sentence"].push_back(i);
    json["source"].push_back(pool.add(source[i]));
    json["reference"].push_back(i < reference.size() ? JsonObject(pool.add(reference[i]))
                                                     : JsonObject());
    json["hypothesis"].push_back(pool.add(hypothesis[i]));
    if (!run.results || std::ssize(hypothesis) != run.results->counts.sentences()) continue;
    for (const auto& [name, metric] : {std::pair("loss", "loss"),
                                       std::pair("accuracy", "free_running_accuracy"),
                                       std::pair("chrf", "chrf")})
      json[name].push_back(rounded(run.results->value(metric, {static_cast<Index>(i)})));
  }
  return json["sentence"].empty() ? JsonObject() : json;
}

// Calls work(alignments, modules, record) for the file of a run: word-level modules first; record: null without one.
template <class Work>
void with_alignments(const AlignedRun& run, const Work& work) {
  const auto call = [&](const StoredAlignments& alignments, const Record* record) {
    std::vector<std::string> modules = alignments.modules();
    std::ranges::sort(modules);
    std::ranges::stable_partition(
        modules, [](const std::string& m) { return m.starts_with(kBetweenWords); });
    work(alignments, modules, record);
  };
  if (run.run < 0) return call(AlignmentRecord(run.file).alignments(), nullptr);
  const Record record(run.file);
  call(record.alignments(), &record);
}

}  // namespace

std::string packed(const std::vector<float>& weights) {
  std::string bytes;
  for (std::size_t i = 0; i < weights.size();) {
    const auto step = [&](std::size_t at) {
      return std::lround(255 * std::clamp(weights[at], 0.0F, 1.0F));
    };
    std::size_t end = i;
    while (end < weights.size() && step(end) == 0 && end - i < 255) ++end;
    if (end > i) {
      bytes += '\0';
      bytes += static_cast<char>(end - i);
      i = end;
    } else {
      bytes += static_cast<char>(step(i++));
    }
  }
  return to_base64(bytes);
}

JsonObject packed_alignments(const std::vector<AlignedRun>& runs,
                             const std::vector<Index>& wanted,
                             std::vector<LeftOutAlignments>& left_out,
                             std::size_t budget) {
  std::size_t most = runs.size();
  for (Index every = 1;;) {
    Pool pool;
    JsonObject panes = JsonObject::array(), translations = JsonObject::array();
    std::size_t size = 0, done = 0;
    left_out.clear();
    while (done < most && (!wanted.empty() || size + pool.size() <= budget)) {
      const AlignedRun& run = runs[done++];
      std::string module;
      const auto leave_out = [&](const std::exception& error) {
        std::string what = module.empty() ? "its alignments" : "its alignments '" + module + "'";
        std::string why = message_of(error);
        if (const std::string file = run.file.string() + ": "; why.starts_with(file))
          why.erase(0, file.size());
        left_out.push_back({&run, what + " are left out: " + why});
      };
      try {
        with_alignments(
            run, [&](const auto& alignments, const auto& modules, const Record* record) {
              if (record && wanted.empty())
                if (JsonObject made = translated(run, *record, kTranslatedBytes / most, pool);
                    !made.is_null())
                  translations.push_back(std::move(made));
              for (const std::string& name : modules) try {
                  module = name;
                  JsonObject pane;
                  size += make_pane(run, alignments, name, wanted, every, pool, pane);
                  const AlignmentKind kind = alignment_kind(name);
                  pane["default"] = name == default_module(modules, false) &&
                                    kind != AlignmentKind::encoder &&
                                    kind != AlignmentKind::decoder;
                  if (record && kind != AlignmentKind::decoder) add_images(*record, pool, pane);
                  if (!pane["sentence"].empty() || !wanted.empty())
                    panes.push_back(std::move(pane));
                } catch (const Error& error) {
                  leave_out(error);
                }
            });
      } catch (const Error& error) {
        leave_out(error);
      }
    }
    if (!wanted.empty() || size + pool.size() <= budget)
      return {{"texts", pool.texts()},
              {"panes", std::move(panes)},
              {"translations", std::move(translations)},
              {"every", every}};
    const double share = static_cast<double>(size + pool.size()) / static_cast<double>(budget);
    const double needed = std::ceil(static_cast<double>(every) * share * static_cast<double>(most) /
                                    static_cast<double>(done));
    constexpr Index kSparsest = 1'000'000'000;  // only sentence 0 remains
    if (every >= kSparsest)
      --most;
    else
      every = std::max(every + 1, static_cast<Index>(std::min(needed, 1.0 * kSparsest)));
  }
}

}  // namespace softalign
