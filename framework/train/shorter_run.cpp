#include "framework/train/shorter_run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/compare.hpp"
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

// What of an identity says how long the run trains; it is taken out.
Length take_length(Json& identity) {
  if (!identity.is_object() || !identity.contains("train")) return {};
  Json& train = identity["train"];
  take(train, "epochs");
  Length length{take(train, "max_updates"), {}};
  if (train.is_object() && train.contains("early_stopping"))
    length.patience = take(train["early_stopping"], "patience");
  return length;
}

// Whether training for `asked` has this state, of a run that trained for `made`, on its way or at its
// end. When max_updates ended that run there was an evaluation that is none of the longer run's.
bool passes(const TrainingState& state, const Length& made, const TrainOptions& asked) {
  if (state.batch == 0 && state.update == made.max_updates && asked.max_updates != made.max_updates)
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
                                         const TrainOptions& asked) {
  Json other = read_json<Json>(read_file(folder.identity()));
  const Length made = take_length(other);
  if (other != identity || !end_is_published(folder)) return std::nullopt;
  const Record record(folder.record());
  Json recorded = read_json<Json>(record.identity_json());
  take_length(recorded);
  if (recorded != identity) return std::nullopt;  // the file beside it is another run's
  if (!is_ours(record) || !changed_plugins(record).empty()) return std::nullopt;
  auto beginning = resume_point_of(folder, record.run_id(), [&](const Checkpoint& checkpoint) {
    return passes(TrainingState::of(checkpoint), made, asked);
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
      demand_run_folder(one.root);  // or what lies there is not known
    if (root.parent_path() == beside && one.root.filename() != run.name.run_id)
      candidates.push_back(one);
  }
  std::optional<ShorterRun> furthest;
  for (const RunFolder& one : candidates) {
    try {
      auto found = shorter_run_in(one, identity, spec.train);
      if (found && (!furthest || found->beginning.state.update > furthest->beginning.state.update))
        furthest = std::move(found);
    } catch (const DataError&) {
    } catch (const NewerFormat&) {
    } catch (const MachineError& error) {
      throw MachineError("{}; it may be a run to go on from: --from-scratch ignores it", error);
    }
  }
  return furthest;
}

}  // namespace softalign
