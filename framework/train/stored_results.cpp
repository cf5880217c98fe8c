#include "framework/train/stored_results.hpp"

#include <algorithm>

#include "framework/base/suggest.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

constexpr const char* kModel1 = "pointing_accuracy_ibm_model1";

// The columns of /test, one after the other, each as long as the first.
class Columns {
 public:
  explicit Columns(const Record& record) : record_(record) {
    if (!record.has("test/source_length"))
      throw DataError("{}: holds no test results; the run is {}, continue it to its end",
                      record.file().string(),
                      record.state());
  }

  // `width` numbers a sentence.
  template <class T>
  std::vector<T> get(const std::string& name, std::size_t width = 1) {
    Array array = record_.array("test", name);
    auto* typed = std::get_if<std::vector<T>>(&array.values);
    if (!typed || (sentences_ > 0 && typed->size() != sentences_ * width))
      throw damaged_record(record_.file(), fmt::format("test/{} is not as a record has it", name));
    if (sentences_ == 0) sentences_ = typed->size();
    return std::move(*typed);
  }
  std::vector<Count> counts(const std::string& hits, const std::string& totals) {
    const auto hit = get<std::int32_t>(hits), total = get<std::int32_t>(totals);
    std::vector<Count> counts;
    for (std::size_t i = 0; i < hit.size(); ++i) counts.push_back({hit[i], total[i]});
    return counts;
  }

 private:
  const Record& record_;
  std::size_t sentences_ = 0;
};

template <class T, class Member>
void fill(std::vector<SentenceResult>& sentences, Member member, const std::vector<T>& values) {
  using Wanted = std::remove_reference_t<decltype(sentences[0].*member)>;
  for (std::size_t i = 0; i < sentences.size(); ++i)
    sentences[i].*member = static_cast<Wanted>(values[i]);
}

template <std::size_t N>
void fill(std::vector<SentenceResult>& sentences,
          std::array<std::int32_t, N> SentenceResult::*member,
          const std::vector<std::int32_t>& values) {
  for (std::size_t i = 0; i < sentences.size(); ++i)
    std::copy_n(
        values.begin() + static_cast<std::ptrdiff_t>(i * N), N, (sentences[i].*member).begin());
}

}  // namespace

std::vector<Index> StoredResults::of_length(Index shortest, Index longest) const {
  std::vector<Index> chosen;
  for (Index i = 0; i < std::ssize(sentences); ++i) {
    const Index length = sentences[static_cast<std::size_t>(i)].source_length;
    if (length >= shortest && length <= longest) chosen.push_back(i);
  }
  return chosen;
}

double StoredResults::value(const std::string& metric, const std::vector<Index>& chosen) const {
  if (const auto baseline = baselines.find(metric); baseline != baselines.end()) {
    Count sum;
    for (const Index i : chosen) sum += baseline->second[static_cast<std::size_t>(i)];
    return ratio(100 * static_cast<double>(sum.hits), sum.total);
  }
  if (metric == kModel1) return ratio(0, 0);  // not asked for in this run
  std::vector<const SentenceResult*> selection;
  for (const Index i : chosen) selection.push_back(&sentences[static_cast<std::size_t>(i)]);
  return make_plugin<MetricKind>(Choice{.kind = MetricKind::name, .type = metric})
      ->value(selection);
}

MetricTable read_totals(const Record& record) {
  MetricTable table;
  const std::string group = "test/by_length";
  if (!record.has(group)) return table;
  table.rows = {"all"};
  table.sentences = {record.attribute<Index>("test", "sentences").value_or(0)};
  for (const std::string& name : record.children(group)) {
    const auto total = record.attribute<double>("test", name);
    if (!total) continue;
    const std::string column = group + "/" + name;
    if (!std::holds_alternative<std::vector<double>>(record.array(group, name).values))
      throw damaged_record(record.file(), fmt::format("{} is not as a record has it", column));
    table.metrics.push_back(name);
    table.units.push_back(record.attribute<std::string>(column, "units").value_or(""));
    table.signatures.push_back(record.attribute<std::string>(column, "signature").value_or(""));
    table.values.push_back(*total);
  }
  return table;
}

StoredResults read_results(const Record& record) {
  Columns columns(record);
  StoredResults results;
  auto& all = results.sentences;
  const auto lengths = columns.get<std::int32_t>("source_length");
  all.resize(lengths.size());
  using S = SentenceResult;
  fill(all, &S::source_length, lengths);
  fill(all, &S::nll, columns.get<double>("nll"));
  fill(all, &S::teacher_forced, columns.counts("correct_tokens", "target_tokens"));
  for (S& sentence : all) sentence.searched = sentence.teacher_forced.total > 0;  // </s> at least
  fill(all, &S::exact, columns.get<std::uint8_t>("exact"));
  fill(all, &S::free_running, columns.counts("free_running_hits", "free_running_positions"));
  fill(all, &S::pointing, columns.counts("pointing_hits", "pointing_tokens"));
  fill(all, &S::attention_entropy, columns.get<double>("attention_entropy"));
  fill(all, &S::attention_steps, columns.get<std::int32_t>("attention_steps"));
  fill(all, &S::model_score, columns.get<double>("model_score"));
  fill(all, &S::hypothesis_text, columns.get<std::string>("hypothesis"));
  fill(all, &S::reference_text, columns.get<std::string>("reference"));
  fill(all, &S::bleu, columns.get<std::int32_t>("bleu_stats", std::tuple_size_v<BleuStats>));
  fill(all, &S::chrf, columns.get<std::int32_t>("chrf_stats", std::tuple_size_v<ChrfStats>));
  if (record.has("test/ibm_model1_hits"))
    results.baselines[kModel1] = columns.counts("ibm_model1_hits", "ibm_model1_tokens");
  return results;
}

std::vector<std::string> result_names() {
  std::vector<std::string> names;
  for (const PluginEntry* entry : Registry::instance().entries(MetricKind::name))
    names.push_back(entry->name);
  names.emplace_back(kModel1);
  return names;
}

}  // namespace softalign
