#include "framework/record/published/alignment_record.hpp"

#include <nlohmann/json.hpp>

#include "framework/base/machine.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/layout.hpp"

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

}  // namespace softalign
