#include "framework/sweep/sweep_folder.hpp"

#include "framework/record/tidy.hpp"

namespace softalign {

namespace fs = std::filesystem;

void check_places(const SweepFolder& sweep) {
  for (const fs::path& file : {sweep.plan(),
                               sweep.base(),
                               sweep.root / "optuna.journal",  // scripts/optuna_sweep.py's
                               sweep.root / "optuna.lock"})
    check_place(file, fs::file_type::regular);
  for (const fs::path& folder :
       {sweep.logs(), sweep.failures(), sweep.corrupt(), sweep.slurm(), sweep.slurm_logs()})
    check_place(folder, fs::file_type::directory);
  check_place(sweep.submitted(), fs::file_type::regular);
  for (const std::string& name : names_in(sweep.slurm_logs()))  // Slurm appends to them
    check_place(sweep.slurm_logs() / name, fs::file_type::regular);
}

void check_places(const SweepFolder& sweep, const std::string& run_id) {
  check_place(sweep.root / run_id, fs::file_type::directory);
  check_place(sweep.log(run_id), fs::file_type::regular);
  check_place(sweep.failure(run_id), fs::file_type::regular);
}

}  // namespace softalign
