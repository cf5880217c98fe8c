#!/usr/bin/env bash
# test.sh [--preset NAME] [--nightly] [CTEST ARGUMENT...]: sets up the machine, builds everything and runs the tests: a quarter of an hour
# on two cores from scratch. `--nightly` also runs the slow tests (a part of the library with sanitizers, every study, more of the
# torture). `scripts/test.sh -L unit` runs the tests with one label; `--preset asan`, `tsan` or `clang` builds and tests in build/NAME with
# sanitizers or with clang (default: release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=release for_ctest=() nightly=
while (($#)); do
  case $1 in
    --help | -h) sed -n '2,/^[^#]/s/^# \?//p' scripts/test.sh; exit ;;
    --nightly) nightly=1 ;;
    --preset) preset=${2-} && shift $(($# > 1)) ;;
    --preset=*) preset=${1#*=} ;;
    *) # ctest itself ignores unknown options
      [[ $1 != --* ]] || ! command -v ctest >/dev/null || ctest --help | grep -qwF -- "${1%%=*}" ||
        { echo "test.sh: neither this script nor ctest has an option '$1'; test.sh --help" >&2; exit 2; }
      for_ctest+=("$1") ;;
  esac
  shift
done
groups=(build figures tests mpi optuna slurm python site)
for program in chromium node npm; do # some tests open the report's pages in a browser; without one they are skipped
  command -v "$program" >/dev/null || { groups+=(browser); break; }
done
scripts/setup.sh --preset "$preset" "${groups[@]}"
if [[ $nightly ]]; then
  export SOFTALIGN_NIGHTLY=1  # read by tests/nightly.py
elif [[ " ${for_ctest[*]} " != *" -"[LR]* ]]; then
  for_ctest+=(-LE nightly)
fi
exec ctest --preset "$preset" --parallel "$(nproc)" "${for_ctest[@]}"
