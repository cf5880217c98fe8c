#!/usr/bin/env bash
# quickstart.sh: sets the machine up, builds the program, runs the first study and draws its pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh build figures
status=0
build/release/bin/softalign study experiments/quickstart/study.yaml "$@" || status=$?
[[ $status -eq 0 || $status -eq 4 ]] || exit "$status"  # 4: a claim failed; the pictures show where
/usr/bin/python3 scripts/plot.py results/quickstart --out results/quickstart/figures
printf '\nThe pictures:\n'
ls "$PWD"/results/quickstart/figures/*.png
exit "$status"
