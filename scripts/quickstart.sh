#!/usr/bin/env bash
# quickstart.sh [KEY=VALUE...]: sets the machine up, builds the program, runs the first study and draws its pictures. KEY=VALUE changes
# the specs of all runs; `softalign study experiments/quickstart/study.yaml` takes options too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for word; do
  case $word in
    --help | -h) sed -n '2,/^[^#]/s/^# \?//p' scripts/quickstart.sh; exit ;;
    -*) echo "quickstart.sh: there is no option '$word'; quickstart.sh --help" >&2; exit 2 ;;
  esac
done
scripts/setup.sh build figures
status=0
build/release/bin/softalign study experiments/quickstart/study.yaml "$@" || status=$?
[[ $status -eq 0 || $status -eq 4 ]] || exit "$status"  # 4: a claim failed; the pictures show where
/usr/bin/python3 scripts/figures.py all results/quickstart --width page --out results/quickstart/figures
printf '\nThe pictures:\n'
ls "$PWD"/results/quickstart/figures/*.png
exit "$status"
