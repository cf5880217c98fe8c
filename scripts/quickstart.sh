#!/usr/bin/env bash
# quickstart.sh [KEY=VALUE...]: sets up the machine, builds the program, runs the first study, draws its figures and writes
# results/quickstart/report.html. KEY=VALUE changes the specs of all runs; `softalign study experiments/quickstart/study.yaml` takes options too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for word; do
  case $word in
    --help | -h) sed -n '2,/^[^#]/s/^# \?//p' scripts/quickstart.sh; exit ;;
    -*) echo "quickstart.sh: there is no option '$word'; quickstart.sh --help" >&2; exit 2 ;;
  esac
done
scripts/setup.sh
export SOFTALIGN_PYTHON=${SOFTALIGN_PYTHON:-/usr/bin/python3} # setup.sh installs the libraries for this one
study() { build/release/bin/softalign study experiments/quickstart/study.yaml "$@"; }
study --only reverse/additive "$@" || [[ $? -eq 4 ]] # 4: a claim failed
"$SOFTALIGN_PYTHON" scripts/figures.py alignments results/quickstart/reverse-additive --sentences 0 --width page --output results/quickstart/figures/first_model || true
printf '\nThe first model is trained; open the picture of a sentence above. The whole study, with three models more and real sentences:\n'
status=0
study "$@" || status=$?
[[ $status -eq 0 || $status -eq 4 ]] || exit "$status"  # the figures show which claim failed
"$SOFTALIGN_PYTHON" scripts/figures.py all results/quickstart --width page --output results/quickstart/figures || status=$?
printf '\nThe pictures and the report:\n'
ls "$PWD"/results/quickstart/figures/*.png
build/release/bin/softalign report "$PWD"/results/quickstart
exit "$status"
