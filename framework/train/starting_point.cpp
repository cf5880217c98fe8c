#include "framework/train/starting_point.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/record/published/publish.hpp"
#include "framework/train/trainer.hpp"

namespace softalign {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Length {
  std::optional<Index> max_updates, patience;
};

std::optional<Index> take(Json& block, const char* name) {
  const Json value = block.is_object() ? block.value(name, Json()) : Json();
  if (block.is_object()) block.erase(name);
  return value.is_number_integer() ? std::optional(value.get<Index>()) : std::nullopt;
}

// Removes the options that set the length of training from an identity, and returns them.
Length take_length(Json& identity) {
  if (!identity.is_object() || !identity.contains("train")) return {};
  Json& train = identity["train"];
  take(train, "epochs");
  Length length{take(train, "max_updates"), {}};
  if (train.is_object() && train.contains("early_stopping"))
    length.patience = take(train["early_stopping"], "patience");
  return length;
}

// Returns whether training by `spec` passes this state of a run of length `made`. The last evaluation of that run
// does not occur in the longer run if max_updates ended it, or if evaluate.every is set and does not divide its update.
bool passes(const TrainingState& state, const Length& made, const Spec& spec) {
  const TrainOptions& asked = spec.train;
  const auto& every = spec.evaluate.every;
  const bool evaluated = state.update > 0 && state.evaluated == state.update;
  if (evaluated &&
      (every ? state.update % every->updates != 0
             : state.update == made.max_updates && asked.max_updates != made.max_updates))
    return false;
  if (made.patience && *made.patience > asked.early_stopping->patience) return false;
  return state.epoch + (state.batch > 0 ? 1 : 0) <= asked.epochs &&
         (!asked.max_updates || state.update <= *asked.max_updates);
}

bool is_ours(const Record& record) {
  return record.attribute<Index>("provenance", "arithmetic") == kArithmetic &&
         record.attribute<std::string>("", "framework_version") == build_info().version &&
         record.attribute<std::string>("provenance", "git_commit") == build_info().git_commit;
}

std::optional<ShorterRun> shorter_run_in(const RunFolder& folder,
                                         const Json& identity,
                                         const Spec& spec) {
  Json other = read_json<Json>(read_file(folder.identity()));
  const Length made = take_length(other);
  if (other != identity || !end_is_published(folder)) return std::nullopt;
  const Record record(folder.record());
  Json recorded = read_json<Json>(record.identity_json());
  take_length(recorded);
  if (recorded != identity) return std::nullopt;  // identity.json belongs to another run
  if (!is_ours(record) || !changed_plugins(record).empty()) return std::nullopt;
  auto beginning = resume_point_of(folder, record.run_id(), [&](const Checkpoint& checkpoint) {
    return passes(TrainingState::of(checkpoint), made, spec);
  });
  if (!beginning) return std::nullopt;
  return ShorterRun{record.run_id(), folder.root, std::move(*beginning)};
}

}  // namespace

std::vector<RunFolder> complete_elsewhere(const std::vector<RunFolder>& runs,
                                          const RunFolder& own) {
  const auto is_it = [&](const RunFolder& run) {
    if (run.root.filename() != own.root.filename() ||
        whole_path(run.root) == whole_path(own.root) || names_in(run.checkpoints()).empty() ||
        !end_is_published(run))
      return false;
    const Record record(run.record());
    return record.run_id() == own.root.filename() && is_ours(record);
  };
  std::vector<RunFolder> found;
  for (const RunFolder& run : runs) {
    try {
      if (is_it(run)) found.push_back(run);
    } catch (const DataError&) {
    } catch (const NewerFormat&) {
    }
  }
  return found;
}

std::optional<ShorterRun> find_shorter_run(const Spec& spec,
                                           const RunPlace& run,
                                           const fs::path& results) {
  if (!is_there(results)) return {};
  Json identity = read_json<Json>(run.name.identity_json);
  take_length(identity);
  const std::vector<RunFolder> runs = runs_below(results);
  std::vector<RunFolder> candidates = complete_elsewhere(runs, {run.folder});
  const fs::path beside = whole_path(run.folder).parent_path();
  for (const RunFolder& one : runs) {
    const fs::path root = whole_path(one.root);
    if (std::ranges::mismatch(root, beside).in1 == root.end())
      demand_run_folder(one.root);  // throws if it could not be read: it may have a run to extend
    if (root.parent_path() == beside && one.root.filename() != run.name.run_id)
      candidates.push_back(one);
  }
  std::optional<ShorterRun> furthest;
  for (const RunFolder& one : candidates) {
    try {
      auto found = shorter_run_in(one, identity, spec);
      if (found && (!furthest || found->beginning.state.update > furthest->beginning.state.update))
        furthest = std::move(found);
    } catch (const DataError&) {
    } catch (const NewerFormat&) {
    } catch (const MachineError& error) {
      throw MachineError("{}; it may be a run to extend: --from-scratch ignores it", error);
    }
  }
  return furthest;
}

namespace {

using Stored = std::map<std::string, StoredParameter>;

std::string shape_text(const std::vector<Index>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

std::vector<Index> shape_of(const Parameter& parameter) {
  std::vector<Index> shape;
  for (int axis = 0; axis < parameter.shape.rank(); ++axis) shape.push_back(parameter.shape[axis]);
  return shape;
}

// Throws DataError if the record has other symbols: rows belong to symbols, so they cannot be copied then.
void check_symbols(const Record& record, const Parameter& parameter, const Dataset& data) {
  const auto same = [&](const char* stored, const Vocabulary& vocabulary) {
    if (record.text("data", stored) == vocabulary.serialize()) return;
    throw DataError(
        "{0}: the rows of {1} belong to other symbols than this run's; reuse its vocabularies, "
        "with task.vocabulary.from={0}, or select parameters by init.only",
        record.file().string(),
        parameter.name);
  };
  const bool source = parameter.name.starts_with("source."),
             target =
                 parameter.name.starts_with("target.") || parameter.name.starts_with("projection.");
  if (source && data.source) same("source_vocabulary", *data.source);
  if (target) same("target_vocabulary", *data.target);
}

std::string take_parameters(Model& model, const InitOptions& options, const Dataset& data) {
  const Record record(options.from.path);
  const Stored stored = record.parameters();
  std::vector<std::string> faults;
  Index parameters = 0, numbers = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    if (!options.only.empty() && !has_name_like(parameter, options.only)) continue;
    const auto found = stored.find(parameter.name);
    if (found == stored.end() || found->second.shape != shape_of(parameter)) {
      faults.push_back(fmt::format(
          "{} {} is {}",
          parameter.name,
          shape_text(shape_of(parameter)),
          found == stored.end() ? "not there" : shape_text(found->second.shape) + " there"));
      continue;
    }
    check_symbols(record, parameter, data);
    std::copy(found->second.values.begin(), found->second.values.end(), parameter.value().begin());
    ++parameters;
    numbers += parameter.shape.size();
  }
  if (!faults.empty()) {
    std::vector<std::string> others;
    for (const auto& other : stored)
      if (std::ranges::none_of(model.parameters().all(),
                               [&](const Parameter& one) { return one.name == other.first; }))
        others.push_back(other.first + " " + shape_text(other.second.shape));
    throw SpecError("init.from: {}: {}{}; select parameters by init.only",
                    record.file().string(),
                    fmt::join(faults, ", "),
                    others.empty() ? "" : fmt::format("; it has {}", fmt::join(others, ", ")));
  }
  return fmt::format("starts with {} of run {}, {} numbers",
                     counted(parameters, "parameter"),
                     record.run_id(),
                     numbers);
}

std::optional<double> number_in(std::string_view word) {
  double number = 0;
  const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = error == std::errc{} && at == word.data() + word.size();
  return whole ? std::optional(number) : std::nullopt;
}

// Returns the numbers after the first word of a line.
std::vector<real> numbers_of(const std::vector<std::string_view>& words, const TextFile& file) {
  std::vector<real> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::optional<double> number = number_in(words[i]);
    if (!number)
      throw DataError("{}:{}: '{}' is not a number; a line has a symbol and its numbers",
                      file.path(),
                      file.line_number(),
                      printable(words[i]));
    numbers.push_back(static_cast<real>(*number));
    if (!std::isfinite(numbers.back()))
      throw DataError("{}:{}: '{}' is not finite", file.path(), file.line_number(), words[i]);
  }
  return numbers;
}

// Returns whether only the last `size` words are numbers, after a symbol of several words.
bool has_blanks_in_symbol(const std::vector<std::string_view>& words, Index size) {
  if (std::ssize(words) <= size + 1) return false;
  const auto numbers = words.end() - size;
  return std::all_of(numbers, words.end(), number_in) &&
         !std::all_of(words.begin() + 1, numbers, number_in);
}

std::string take_vectors(Model& model,
                         const std::string& name,
                         const InputFile& path,
                         const Vocabulary& vocabulary,
                         const char* side) {
  const auto& all = model.parameters().all();
  const auto table = std::ranges::find(all, name, &Parameter::name);
  if (table == all.end())
    throw SpecError("init.{}_embeddings: the model has no parameter {}", side, name);
  const Index size = table->shape[1];
  std::vector<bool> found(usize(table->shape[0]));
  TextFile file(path.path);
  std::string line, promised;  // number of vectors by the first line
  Index vectors = 0,
        with_blanks = 0;  // with_blanks: for symbols with blanks, which vocabularies do not have
  while (file.next(line)) {
    const std::vector<std::string_view> words = split_words(line);
    if (has_blanks_in_symbol(words, size)) {
      ++vectors;
      ++with_blanks;
      continue;
    }
    const std::vector<real> numbers = numbers_of(words, file);
    // The first line may give the number of vectors and their size.
    if (file.line_number() == 1 && numbers.size() == 1 && size != 1) {
      if (numbers[0] == static_cast<real>(size)) {
        promised = words.front();
        continue;
      }
      throw DataError("{}:1: a symbol has {} numbers, but model.embedding is {}",
                      file.path(),
                      numbers[0],
                      size);
    }
    if (std::ssize(numbers) != size)
      throw DataError("{}:{}: {} after the symbol, but model.embedding is {}",
                      file.path(),
                      file.line_number(),
                      counted(std::ssize(numbers), "number"),
                      size);
    ++vectors;
    const Token id = vocabulary.id(words.front());
    if (id < kSpecials || found[usize(id)]) continue;  // the first vector of a symbol counts
    found[usize(id)] = true;
    std::copy(numbers.begin(), numbers.end(), table->value().data + id * size);
  }
  const auto covered = std::ranges::count(found, true);
  if (covered == 0)
    throw DataError(
        "{}: has none of the {} {} symbols", file.path(), found.size() - kSpecials, side);
  std::string note =
      fmt::format("{}: {} of {} {} symbols", file.path(), covered, found.size() - kSpecials, side);
  if (!promised.empty() && promised != std::to_string(vectors))
    note += fmt::format(
        "; its first line says {} vectors, but it has {}", printable(promised), vectors);
  if (with_blanks > 0)
    note += fmt::format("; skipped {} with blanks in the symbol", counted(with_blanks, "line"));
  return note;
}

}  // namespace

std::string parameters_sha256(const std::filesystem::path& record) {
  std::string bytes;
  for (const auto& [name, parameter] : Record(record).parameters()) {
    bytes += name + shape_text(parameter.shape);
    bytes.append(reinterpret_cast<const char*>(parameter.values.data()),
                 parameter.values.size() * sizeof(float));
  }
  return sha256_hex(bytes);
}

std::vector<std::string> warm_start(Model& model, const InitOptions& options, const Dataset& data) {
  std::vector<std::string> notes;
  for (const auto& [option, patterns] :
       {std::pair("only", options.only), {"freeze", options.freeze}})
    for (const std::string& pattern : patterns)
      if (std::ranges::none_of(model.parameters().all(), [&](const Parameter& parameter) {
            return has_name_like(parameter, {pattern});
          }))
        throw SpecError("init.{}: no parameter is called '{}'; softalign parameters lists them",
                        option,
                        printable(pattern));
  if (std::ranges::none_of(model.parameters().all(), &Parameter::trained))
    throw SpecError("init.freeze: there is nothing left to train; name fewer parameters");
  if (!options.from.path.empty()) notes.push_back(take_parameters(model, options, data));
  if (!options.source_embeddings.path.empty() && !data.source)
    throw SpecError("init.source_embeddings: the sources are frames, which have no embeddings");
  if (!options.source_embeddings.path.empty())
    notes.push_back(take_vectors(
        model, "source.embedding.E", options.source_embeddings, *data.source, "source"));
  if (!options.target_embeddings.path.empty())
    notes.push_back(take_vectors(
        model, "target.embedding.E", options.target_embeddings, *data.target, "target"));
  return notes;
}

}  // namespace softalign
