#include "framework/record/published/open_record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/record/published/publish.hpp"

namespace softalign {
namespace {

std::filesystem::path record_file(const std::filesystem::path& path) {
  const std::filesystem::path name = RunFolder{}.record().filename();
  if (!is_folder(path) || path.filename() == name) return path;
  const std::filesystem::path file = path / name;
  if (!is_there(file)) {
    if (!is_run_folder(path))
      throw DataError("{}: not the folder of a run; name one", path.string());
    throw DataError(
        "{}: no record yet: a run publishes it with its first checkpoint; if its process is dead, "
        "`softalign recover` makes one",
        path.string());
  }
  return file;
}

std::string join(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

// Returns the run ID of a folder, from the journals or else identity.json; empty if it is not a run's.
std::string owner_of(const RunFolder& run) {
  if (const std::vector<Index> journals = run.journals(); !journals.empty()) {
    JournalTail journal(run.journal(journals.back()));
    journal.next();
    if (journal.header()) return journal.header()->run_id;
  }
  return is_there(run.identity()) ? softalign::run_id(identity(read_file(run.identity()))) : "";
}

// Throws DataError if a record is in the folder of another run.
void check_file_type(const std::filesystem::path& file, const std::string& run_id) {
  const RunFolder run{folder_of(file)};
  if (file.filename() != run.record().filename()) return;
  // Faster than reading the journals, which have the same information.
  if (is_there(run.identity()) && softalign::run_id(identity(read_file(run.identity()))) == run_id)
    return;
  if (const std::string owner = owner_of(run); !owner.empty() && owner != run_id)
    throw DataError("{}: the record of another run, {}, in the folder of run {}; move it away: {}",
                    file.string(),
                    run_id,
                    owner,
                    remedy_for(file));
}

template <class T>
std::vector<T> as(const std::filesystem::path& file, Values values, const std::string& path) {
  if (auto* typed = std::get_if<std::vector<T>>(&values)) return std::move(*typed);
  throw damaged_record(file, path + " has another element type than in a record");
}

}  // namespace

void check_format(const std::filesystem::path& file, const Hdf5Reader& hdf5, const char* wanted) {
  const JsonObject json = hdf5.attributes("");
  const auto format = json.find("format");
  if (format != json.end() && *format == wanted) return;
  if (format != json.end() && *format == kAlignmentFormat)
    throw DataError(
        "{}: not a record but alignments written by softalign translate; softalign show prints "
        "them",
        file.string());
  if (format != json.end() && *format == kSweepFormat)
    throw DataError("{}: not a record but the table of a sweep; give one of the runs next to it",
                    file.string());
  throw DataError("{}: an HDF5 file, but not a softalign record", file.string());
}

Record::Record(const std::filesystem::path& path) : file_(record_file(path)), hdf5_(file_) {
  check_format(file_, hdf5_, kRecordFormat);
  const Index version = attribute<Index>("", "format_version").value_or(0);
  if (version < 1)
    throw damaged_record(file_, fmt::format("record format {} does not exist", version));
  if (version > kFormatVersion)
    throw NewerFormat("{}: record format {} is newer than this program's {}: use a newer softalign",
                      file_.string(),
                      version,
                      kFormatVersion);
  run_id_ = attribute<std::string>("", "run_id").value_or("");
  name_ = attribute<std::string>("", "name").value_or("");
  state_ = attribute<std::string>("", "state").value_or("");
  complete_ = attribute<Index>("", "complete").value_or(0) != 0;
  last_update_ = attribute<Index>("", "last_update").value_or(0);
  check_file_type(file_, run_id_);
}

JsonObject Record::attributes(const std::string& path) const {
  return path.empty() || has(path) ? hdf5_.attributes(path) : JsonObject::object();
}

std::string Record::state() const {
  const RunFolder folder{folder_of(file_)};
  if (file_.filename() == folder.record().filename())
    if (const RunState now = run_status(folder).state; now != RunState::planned)
      return std::string(to_string(now));
  return state_ == to_string(RunState::running) ? std::string(to_string(RunState::interrupted))
                                                : state_;
}

std::vector<std::string> Record::children(const std::string& group) const {
  return group.empty() || has(group) ? hdf5_.children(group) : std::vector<std::string>{};
}

std::vector<std::string> Record::series_names() const {
  std::vector<std::string> names = children();
  std::erase_if(names, [&](const std::string& name) {
    return !hdf5_.is_group(name) || !has(name + "/update");
  });
  return names;
}

SeriesColumns Record::series(const std::string& name,
                             const std::vector<std::string>& wanted) const {
  SeriesColumns series;
  series.updates = as<std::int64_t>(file_, hdf5_.read(name + "/update"), name + "/update");
  for (const std::string& column : children(name)) {
    const std::string path = name + "/" + column;
    const bool asked =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), column) != wanted.end();
    if (!asked || column == "update" || hdf5_.is_group(path)) continue;
    Values values = hdf5_.read(path);
    if (auto* numbers = std::get_if<std::vector<double>>(&values);
        numbers && numbers->size() == series.updates.size())
      series.columns[column] = std::move(*numbers);
  }
  return series;
}

Array Record::array(const std::string& group, const std::string& name) const {
  const std::string path = join(group, name);
  if (!has(path)) throw DataError("{}: no '{}' in this record", file_.string(), path);
  return {.group = group,
          .name = name,
          .update = last_update_,
          .dims = hdf5_.dims(path),
          .values = hdf5_.read(path),
          .attributes = hdf5_.attributes(path).dump()};
}

std::string Record::text(const std::string& group, const std::string& name) const {
  const std::string path = join(group, name);
  Values values = hdf5_.read(path);
  if (auto* bytes = std::get_if<std::vector<std::uint8_t>>(&values))
    return {bytes->begin(), bytes->end()};
  const auto strings = as<std::string>(file_, std::move(values), path);
  if (strings.size() != 1) throw damaged_record(file_, path + " is not a single text");
  return strings[0];
}

std::map<std::string, StoredParameter> Record::parameters() const {
  if (!has("parameters")) {
    throw DataError("{}: has no parameters: the run is {}; run its spec again to resume it",
                    file_.string(),
                    state());
  }
  std::map<std::string, StoredParameter> parameters;
  for (const std::string& name : children("parameters")) {
    Values values = hdf5_.read("parameters/" + name);
    auto* numbers = std::get_if<std::vector<float>>(&values);
    if (!numbers) continue;  // an axis
    StoredParameter parameter{.shape = {}, .values = std::move(*numbers)};
    for (const Dimension& d : hdf5_.dims("parameters/" + name)) parameter.shape.push_back(d.size);
    parameters[name] = std::move(parameter);
  }
  return parameters;
}

}  // namespace softalign
