// Reads a record like the commands.
#pragma once

#include "framework/analysis/export_links.hpp"
#include "framework/analysis/run.hpp"
#include "framework/base/stored.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/published/alignments.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/train/stored_results.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace softalign::fuzz {

inline void read_alignments(const StoredAlignments& alignments) {
  for (const std::string& module : alignments.modules()) {
    alignments.heads(module);
    const std::vector<Index> sentences = alignments.sentences(module);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, sentences.size()); ++i)
      for (const Alignment& a : alignments.of_sentence(module, sentences[i]))
        require(a.weights.size() == a.source.size() * a.target.size() &&
                    (a.gold.empty() || a.gold.size() == a.weights.size()),
                "an alignment of another size than its words");
  }
}

constexpr std::size_t kReadings = 8;

// Reads one part; the file must be a run's run.h5.
inline void read_record(const std::filesystem::path& file, std::size_t reading) {
  std::optional<Record> record;
  if (!accepts([&] { record.emplace(file); })) {
    accepts([&] { read_alignments(AlignmentRecord(file).alignments()); });
    return;
  }
  const auto read = [&] {
    switch (reading) {
      case 0: {
        record->state();
        record->spec_yaml();
        load_vocabulary(record->text("data", "source_vocabulary"));
        return;
      }
      case 1: {
        record->parameters();
        return;
      }
      case 2: {
        const StoredResults results = read_results(*record);
        const std::vector<Index> chosen = results.of_length(1, 10);
        for (const NamedMetric& metric : default_metrics()) results.value(metric.name, chosen);
        return;
      }
      case 3: {
        for (const std::string& name : record->series_names()) record->series(name);
        return;
      }
      case 4: {
        read_alignments(record->alignments());
        export_links(*record, "cross", {}, {});
        return;
      }
      case 5: {
        numeric_digest(file);
        return;
      }
      case 6: {
        Run run = read_run(file);
        demand_complete(run);
        read_configuration(run);
        read_sentences(run);
        return;
      }
      default: {
        const Run summary = read_run(file.parent_path());
        require(packed(unpacked<Run>(packed(summary))) == packed(summary),
                "a summary reads back otherwise");
      }
    }
  };
  accepts(read);
}

}  // namespace softalign::fuzz
