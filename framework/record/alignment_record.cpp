#include "framework/record/alignment_record.hpp"

#include <nlohmann/json.hpp>

#include "framework/record/layout.hpp"
#include "framework/record/machine.hpp"
#include "framework/record/provenance.hpp"

namespace softalign {

void write_alignment_record(FileSystem& files,
                            const std::filesystem::path& path,
                            const std::string& run_id,
                            std::vector<Alignment> alignments) {
  std::vector<Frame> frames;
  for (Alignment& alignment : alignments) frames.emplace_back(std::move(alignment));
  Hdf5Writer file;
  file.attributes("",
                  nlohmann::ordered_json{{"format", "softalign-alignments"},
                                         {"Conventions", "CF-1.10"},
                                         {"run_id", run_id},
                                         {"created", utc_time(unix_time())},
                                         {"framework_version", build_info().version}}
                      .dump());
  write_alignments(file, frames);
  files.write_atomically(path, file.image());
}

}  // namespace softalign
