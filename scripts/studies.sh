#!/usr/bin/env bash
# studies.sh [--tiny] [--pages] [--workers N] [--results FOLDER] [NAME..]: runs or resumes the named studies of experiments/ (default: all).
# --tiny: in a form that takes seconds. --pages: writes FOLDER/studies/NAME/ from the records of FOLDER (default: results) instead.
# The same command resumes after a stop. Several of them on one FOLDER, on this machine or others, share the runs;
# `softalign sweep submit experiments/NAME/study.yaml` submits those of one study to Slurm. Uses the program of build/release, built first
# if it is missing, or SOFTALIGN_PROGRAM. Exit status: 4 a claim fails, 75 not complete.
set -euo pipefail
tiny=() pages='' workers=$(nproc) results=$(dirname "${BASH_SOURCE[0]}")/../results names=()
while (($#)); do
  case $1 in
    --help | -h) sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"; exit ;;
    --tiny) tiny=(--tiny) ;;
    --pages) pages=1 ;;
    --workers | --results) [[ -n ${2-} && $2 != -* ]] || { echo "studies.sh: $1 wants a value" >&2; exit 2; }; printf -v "${1#--}" %s "$2"; shift ;;
    -*) echo "studies.sh: there is no option '$1'; studies.sh --help" >&2; exit 2 ;;
    *) names+=("$1") ;;
  esac
  shift
done
results=$(realpath -m -- "$results")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for name in "${names[@]}"; do
  [[ -f experiments/$name/study.yaml ]] || { echo "studies.sh: there is no experiments/$name/study.yaml" >&2; exit 2; }
done
((${#names[@]})) || for file in experiments/*/study.yaml; do file=${file#*/}; names+=("${file%/*}"); done
program=${SOFTALIGN_PROGRAM:-$PWD/build/release/bin/softalign}
[[ -x $program ]] || scripts/setup.sh
export SOFTALIGN_PROGRAM=$program
[[ -z $pages ]] || exec "${SOFTALIGN_PYTHON:-/usr/bin/python3}" scripts/study_pages.py "${tiny[@]}" --results "$results" "${names[@]}"

trap 'exit 75' INT TERM # once the program has saved its state
status=0
for name in "${names[@]}"; do
  printf '\n== %s\n' "$name"
  if [[ -f experiments/$name/PACKAGES && ! -d experiments/$name/data ]]; then # its corpus is not shipped
    if ((${#tiny[@]})); then echo "left out: experiments/corpora/build_${name##*_}.py has not been run"; continue; fi
    "experiments/corpora/build_${name##*_}.py"
  fi
  ended=0
  "$program" study "experiments/$name/study.yaml" "${tiny[@]}" --workers "$workers" --results "$results" || ended=$?
  case $ended in
    0) ;;
    4) ((${#tiny[@]} || status)) || status=4 ;; # a hardly trained model proves nothing
    75) status=75 ;;
    *) exit "$ended" ;;
  esac
done
exit "$status"
