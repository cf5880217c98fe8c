#include "framework/runs/list_folder.hpp"

#include "framework/base/path.hpp"
#include "framework/record/folder/tidy.hpp"

namespace softalign {

void check_places(const ListFolder& list) {
  for (const fs::path& file : {list.plan(),
                               list.root / "optuna.journal",  // scripts/optuna_sweep.py's
                               list.root / "optuna.lock"})
    check_place(file, fs::file_type::regular);
  for (const fs::path& folder : {list.bases(),
                                 list.logs(),
                                 list.failures(),
                                 list.corrupt(),
                                 list.slurm(),
                                 list.slurm_logs()})
    check_place(folder, fs::file_type::directory);
  for (const std::string& name : names_in(list.bases()))
    check_place(list.bases() / name, fs::file_type::regular);
  check_place(list.submitted(), fs::file_type::regular);
  for (const std::string& name : names_in(list.slurm_logs()))  // Slurm appends to them
    check_place(list.slurm_logs() / name, fs::file_type::regular);
}

void check_places(const ListFolder& list, const std::string& run_id, const fs::path& below) {
  fs::path folder = list.root;
  for (const fs::path& part : below) check_place(folder /= part, fs::file_type::directory);
  check_place(list.log(run_id), fs::file_type::regular);
  check_place(list.failure(run_id), fs::file_type::regular);
}

}  // namespace softalign
