#!/usr/bin/env bash
# test.sh [CTEST ARGUMENT...]: sets the machine up, builds everything, runs the tests. `scripts/test.sh -L unit` runs those of one label.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
groups=(build figures tests optuna slurm)
for program in chromium node npm; do # the report's pages are opened in a browser; without one those tests are skipped
  command -v "$program" >/dev/null || { groups+=(browser); break; }
done
scripts/setup.sh "${groups[@]}"
exec ctest --preset release --parallel "$(nproc)" "$@"
