#!/usr/bin/env bash
# make.sh: makes the records of this folder again, with the softalign that PATH finds. Needed when the arithmetic changes (CHANGELOG.md);
# commit everything else before, so that the records name a commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for spec in *.yaml; do
  name=${spec%.yaml}
  if grep -q '^method:' "$spec"; then  # a sweep: a row that was stopped early
    softalign sweep run "$spec" --workers 1 --results "$place"
    pruned=$(grep -l '"pruned"' "$place/$name"/*/status.json | head -n 1)
    softalign publish "${pruned%/*}" --force --below ../.. -o "$name.h5"
  else
    softalign run "$spec" --results "$place"
    softalign publish "$place/$name"/* --force --below ../.. -o "$name.h5"
  fi
done
