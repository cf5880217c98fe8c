#!/usr/bin/env bash
# publish.sh [RECORD..]: replaces each record by its public copy (softalign publish); default: all in results/published and results/studies.
# The copies name their data by its path in this repository, so `softalign verify` finds it in any clone. A record that is already such a copy does
# not change. Uses the program of build/release, or SOFTALIGN_PROGRAM.
set -euo pipefail
[[ ${1-} != -h && ${1-} != --help ]] || { sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"; exit; }
root=$(realpath -- "$(dirname "${BASH_SOURCE[0]}")/..")
(($#)) || set -- "$root"/results/published/*.h5 "$root"/results/studies/*/record.h5
for record; do
  "${SOFTALIGN_PROGRAM:-$root/build/release/bin/softalign}" publish "$record" --force --below "$root" -o "$record"
done
