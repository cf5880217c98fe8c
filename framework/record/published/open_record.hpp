// Reads a published record, for commands that inspect runs or use their models. It needs only
// run.h5 from the run's folder.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/frames.hpp"
#include "framework/record/published/alignments.hpp"

namespace softalign {

// A table of numbers by update.
struct SeriesColumns {
  std::vector<Index> updates;
  std::map<std::string, std::vector<double>> columns;  // NaN: no value at that update

  template <class V>
  void describe(V& v) {
    v("updates", updates);
    v("columns", columns);
  }
};

struct StoredParameter {
  std::vector<Index> shape;
  std::vector<float> values;  // row-major
};

// All functions throw DataError, which names file and path, for absent or damaged values.
class Record {
 public:
  // path: a run.h5, or its folder. Throws DataError, in one line, for a file that is absent, truncated,
  // foreign, or the record of another run than its folder's; NewerFormat for one of a newer version.
  explicit Record(const std::filesystem::path& path);

  const std::filesystem::path& file() const { return file_; }
  std::string run_id() const { return run_id_; }
  std::string name() const { return name_; }
  // Returns the current state of the run, as run_status; for a record outside its folder the recorded
  // state, or "interrupted" if it was running, because a copy is never resumed.
  std::string state() const;
  bool complete() const { return complete_; }
  Index last_update() const { return last_update_; }
  std::string spec_yaml() const { return text("provenance", "spec_yaml"); }
  std::string identity_json() const { return text("provenance", "identity_json"); }

  JsonObject attributes(const std::string& path = "") const;  // empty if missing
  // Returns an attribute, like Hdf5Reader::attribute.
  template <class T>
  std::optional<T> attribute(const std::string& path, const std::string& name) const {
    return hdf5_.attribute<T>(path, name);
  }
  bool has(const std::string& path) const { return hdf5_.exists(path); }
  std::vector<std::string> children(const std::string& group = "") const;
  // Returns the groups of numbers by update: "train", "dev".
  std::vector<std::string> series_names() const;
  // Returns all columns, or the existing ones among `wanted`.
  SeriesColumns series(const std::string& name, const std::vector<std::string>& wanted = {}) const;
  Array array(const std::string& group, const std::string& name) const;
  // Returns a text of Recorder::text.
  std::string text(const std::string& group, const std::string& name) const;
  std::map<std::string, StoredParameter> parameters() const;

  StoredAlignments alignments() const { return {file_, hdf5_}; }  // while the record lives

 private:
  std::filesystem::path file_;
  Hdf5Reader hdf5_;
  std::string run_id_, name_, state_;
  bool complete_ = false;
  Index last_update_ = 0;
};

}  // namespace softalign
