#!/usr/bin/env bash
# torture.sh [--hours N] [--only CAMPAIGN..] [--seed S] [...]: builds, then tortures the program: kills, failing calls, power cuts, full
# disks, fuzzers. Prints a table of attempts and failures. All options: torture.sh --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for word; do # before anything is built
  [[ $word != --* ]] || ! [[ -x /usr/bin/python3 ]] || /usr/bin/python3 tests/torture/torture.py --help | grep -qwF -- "${word%%=*}" ||
    { echo "torture.sh: there is no option '$word'; torture.sh --help" >&2; exit 2; }
done
if [[ " $* " != *' --help '* && " $* " != *' -h '* ]]; then
  scripts/setup.sh build figures tests
  [[ $* == *--only* && $* != *fuzz_* ]] || scripts/setup.sh --preset fuzz || echo "torture.sh: the fuzzers are left out" >&2
fi
exec /usr/bin/python3 tests/torture/torture.py "$@"
