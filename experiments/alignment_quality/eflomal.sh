#!/usr/bin/env bash
# eflomal.sh [--output FOLDER] [SOURCE TARGET]: links of eflomal (Östling and Tiedemann 2016), which directions.py then measures beside the runs':
# FOLDER/eflomal_forward.links, eflomal_backward.links, eflomal_both.links, of the texts SOURCE and TARGET (plain or gzip; the Bible's test set), which
# it aligns together with the Bible's training text. FOLDER: results/alignment_quality. Installs eflomal from PyPI into build/eflomal;
# where that cannot be done it says why, and leaves nothing. Its links differ a little from one time to the next: it has no seed.
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..") data=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../bible_en_es/data")
out=$root/results/alignment_quality
case ${1-} in --help | -h) sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"; exit ;; --output) out=${2:?eflomal.sh: --output wants a folder}; shift 2 ;; esac
(($# == 0 || $# == 2)) || { echo "eflomal.sh: give SOURCE and TARGET, or neither; eflomal.sh --help" >&2; exit 2; }
source=${1:-$data/test.en.gz} target=${2:-$data/test.es.gz}

place=$root/build/eflomal
log=$place/install.log
mkdir -p "$place" "$out"
if [[ ! -x $place/bin/eflomal-align ]]; then
  if ! { /usr/bin/python3 -m venv "$place" && "$place/bin/pip" install --quiet eflomal==2.0.0; } > "$log" 2>&1; then
    echo "eflomal.sh: skipped: eflomal cannot be installed (it is built from PyPI's source, which wants python3-venv, python3-dev and a C compiler): $log says more" >&2
    exit 0
  fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zcat -f "$data/train.en.gz" "$source" > "$work/source"
zcat -f "$data/train.es.gz" "$target" > "$work/target"
"$place/bin/eflomal-align" --overwrite -s "$work/source" -t "$work/target" -f "$work/forward" -r "$work/backward"
lines=$(zcat -f "$source" | wc -l)
for way in forward backward; do tail -n "$lines" "$work/$way" > "$out/eflomal_$way.links"; done
"$root/experiments/links.py" intersect "$out/eflomal_forward.links" "$out/eflomal_backward.links" > "$out/eflomal_both.links"
