// softalign show RUN: prints a record for people: summary, provenance, results by length, attempts; or
// alignment matrices.
#include <fmt/ranges.h>  // fmt::join, from version 11 on
#include <algorithm>
#include <filesystem>
#include <optional>

#include "framework/analysis/export_links.hpp"
#include "framework/analysis/record_facts.hpp"
#include "framework/analysis/run_origin.hpp"
#include "framework/app/command.hpp"
#include "framework/app/records/records.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/json.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/runs/early_termination.hpp"
#include "framework/train/stored_results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign::app {
namespace {

struct ShowArguments {
  RunArgument run;
  std::optional<Index> sentence;
  std::string module;
  std::optional<Index> head;
  std::string diagnostic;
  bool json = false;
};

// Returns the lines of a resolved spec whose values were given, with the blocks around them.
std::string given_lines(const std::string& yaml) {
  std::vector<std::string> lines, kept;
  for (std::size_t at = 0; at < yaml.size();) {
    const std::size_t end = std::min(yaml.find('\n', at), yaml.size());
    lines.push_back(yaml.substr(at, end - at));
    at = end + 1;
  }
  std::size_t depth = 0;  // indentation of the last kept line, if it needs a block; 0: none
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::size_t indent = std::min(line->find_first_not_of(' '), line->size());
    const bool block = line->ends_with(':');
    if (block ? indent >= depth : is_default_line(*line)) continue;
    kept.push_back(*line);
    depth = indent;
  }
  std::string out;
  for (auto line = kept.rbegin(); line != kept.rend(); ++line) out += "  " + *line + "\n";
  return out;
}

std::string attempts(const Record& record) {
  const Json all = attempts_json(record);
  Table table({{"attempt", Side::right},
               {"started"},
               {"ended", Side::left, 0, 1},
               {"state", Side::left, 12},
               {"update", Side::right},
               {"host", Side::left, 8}});
  for (const Json& one : all)
    table.row({text_of(one["attempt"]),
               text_of(one["started"]),
               one["ended"] == "" ? "-" : text_of(one["ended"]),
               text_of(one["state"]),
               text_of(one["last_update"]),
               text_of(one["host"])});
  return all.empty() ? "" : table.fitted();
}

// "source 3.1 % unknown (12 of 40 types)".
std::string unknown_share(const TextFacts& text) {
  return fmt::format("{} {:.1f} % unknown ({} of {})",
                     text.option.substr(text.option.find('.') + 1),
                     text.unknown_percent(),
                     text.unknown_types,
                     counted(text.types, "type"));
}

std::string summary(const Record& record) {
  const Json root = record.attributes(), provenance = record.attributes("provenance"),
             test = record.attributes("test");
  std::string out;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("{:<12}{}\n", name, printable(value, kWhole));
  };
  const auto from = [](const Json& json, const char* name) {
    return json.contains(name) ? text_of(json[name]) : std::string();
  };
  line("run", fmt::format("{} {}", record.name(), record.run_id()));
  line("tags", fmt::format("{}", fmt::join(origin_of(record).tags, ", ")));
  line("record", short_path(record.file()));
  const std::string state = record.state();
  const bool again = record.complete() && state != to_string(RunState::complete);
  line("state",
       fmt::format("{}, {}{}",
                   state,
                   counted(record.last_update(), "update"),
                   again ? ", of when the run was complete before" : ""));
  if (state == to_string(RunState::pruned) && record.has("provenance/early_termination"))
    line("stopped by",
         stop_reason(from_stored_text<DevHistory>(record.text("provenance", "early_termination"))));
  line("selected",
       test.contains("selected_update") ? "parameters of update " + from(test, "selected_update")
                                        : "");
  line("parameters", from(root, "parameters"));
  const std::vector<TextFacts> texts = texts_of(record);
  for (const char* split : {"train", "dev", "test"}) {
    const std::string group = std::string("data/") + split;
    const Json counts = record.attributes(group);
    if (!counts.contains("kept")) continue;
    std::string text = from(counts, "kept") + " sentences";
    for (const char* lost : {"dropped_too_long", "dropped_empty", "truncated"})
      if (const Index n = record.attribute<Index>(group, lost).value_or(0); n > 0)
        text += fmt::format(", {} {}", n, lost);
    std::replace(text.begin(), text.end(), '_', ' ');
    for (const TextFacts& of_file : texts)
      if (of_file.option.starts_with(split)) text += "; " + unknown_share(of_file);
    line(split, text);
  }
  const bool dirty = from(provenance, "git_dirty") == "1";
  line("made by",
       fmt::format("softalign {}, commit {}{}",
                   from(root, "framework_version"),
                   from(provenance, "git_commit").substr(0, 12),
                   dirty ? " with changes (see provenance/git_diff)" : ""));
  line("built with",
       fmt::format("{}, {}", from(provenance, "compiler"), from(provenance, "flags")));
  line("kernels", from(provenance, "gemm"));
  const std::string host = from(provenance, "host");  // not in a public copy
  line("on", host + (host.empty() ? "" : ", ") + from(provenance, "cpu_model"));
  if (const std::string plugins = from(provenance, "plugins"); plugins.size() > 2) {
    const Json list = read_json<Json>(plugins);
    for (const Json& plugin : list.is_array() ? list : Json{plugins})
      line("plugin", text_of(plugin));
  }
  return out;
}

void show_summary(const Record& record) {
  print_text("{}\nspec as given, with the paths of the record:\n{}",
             summary(record),
             given_lines(record.spec_yaml()));
  if (const MetricTable table = read_by_length(record); !table.rows.empty())
    print_text("\ntest set{}, by source length\n{}\n{}",
               of_lines(record),
               metrics_by_length(table, table.metrics),
               signatures(table));
  print_text("{}\n{}", diagnostics_summary(record), attempts(record));
}

void show(const ShowArguments& arguments) {
  const std::filesystem::path path = find_run(arguments.run);
  ShownSentence sentence{arguments.sentence, arguments.module, arguments.head, arguments.json};
  if (is_alignment_record(path)) return show_alignment_record(AlignmentRecord(path), sentence);
  const Record record(path);
  sentence.line_of = [&](const std::string& module, Index number) -> Index {
    const std::vector<Index> lines = text_lines(record, split_of(module)).numbers;
    return number < std::ssize(lines) ? lines[usize(number)] : 0;
  };
  if (arguments.sentence)
    return show_sentence(record.alignments(),
                         printable(fmt::format("{} {}", record.name(), record.run_id()), kWhole),
                         sentence);
  if (!arguments.module.empty()) throw SpecError("--module {}: add --sentence N", arguments.module);
  if (arguments.head) throw SpecError("--head {}: add --sentence N", *arguments.head);
  if (!arguments.diagnostic.empty()) {
    const std::string tables = diagnostic_tables(record, arguments.diagnostic);
    if (arguments.json) return print_json(diagnostics_json(record, arguments.diagnostic));
    return print_text("{}", tables);
  }
  if (arguments.json)
    print_json(record_json(record));
  else
    show_summary(record);
}

}  // namespace

void add_show(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = add_command(app,
                                  "show",
                                  "show the contents of a record, or the alignment of a sentence",
                                  "Records",
                                  "softalign show 3f2a --sentence 5");
  arguments->run.add_to(*command);
  CLI::Option* sentence =
      command
          ->add_option(
              "--sentence", arguments->sentence, "draw the alignment of this sentence, from 0")
          ->check(integer());
  command->add_option(
      "--module",
      arguments->module,
      "the alignments to draw: cross (test, teacher-forced), cross_search, cross_dev; "
      "cross_layer1, ...: single heads; encoder_layer1, ..., decoder_layer1, ...: self-attention; "
      "words_cross, ...: subwords merged into words (the default with subwords)");
  command->add_option("--head", arguments->head, "the head to draw of such a layer, from 0")
      ->check(integer());
  command
      ->add_option("--diagnostic",
                   arguments->diagnostic,
                   "show the results of this diagnostic: gradient_flow, ...")
      ->excludes(sentence);
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments] { show(*arguments); });
}

}  // namespace softalign::app
