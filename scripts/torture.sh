#!/usr/bin/env bash
# torture.sh [--hours N] [--only CAMPAIGN..] [--seed S] [...]: builds, then tortures the program: kills, failing calls, power cuts, full
# disks, and the fuzzers where clang is installed. Prints a table of tries and failures. All options: torture.sh --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for word; do # before anything is built
  [[ $word != --* ]] || ! [[ -x /usr/bin/python3 ]] || /usr/bin/python3 tests/torture/torture.py --help | grep -qwF -- "${word%%=*}" ||
    { echo "torture.sh: there is no option '$word'; torture.sh --help" >&2; exit 2; }
done
if [[ " $* " != *' --help '* && " $* " != *' -h '* ]]; then
  scripts/setup.sh build figures tests
  if ! command -v clang++ >/dev/null; then
    echo "torture.sh: no clang++ here, so the fuzzers are left out"
  elif cmake --list-presets 2>/dev/null | grep -q '"fuzz"'; then
    cmake --preset fuzz >/dev/null
    cmake --build --preset fuzz
  fi
fi
exec /usr/bin/python3 tests/torture/torture.py "$@"
