#!/usr/bin/env bash
# bench.sh [--json FILE] [--rounds N] [--configurations small,long] [...]: softalign against PyTorch, in turns, as one table.
# Builds softalign_bench; takes the PyTorch of build/pytorch (made here from PyPI when it can be had), else Debian's
# python3-torch, else measures softalign alone and says so. All options: bench.sh --help.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build tests
cmake --build build/release --target softalign_bench

python=build/pytorch/bin/python
if [[ ! -x $python ]] && python3 -m venv build/pytorch >build/pytorch.log 2>&1; then
  build/pytorch/bin/pip install torch==2.13.0 --extra-index-url https://download.pytorch.org/whl/cpu >>build/pytorch.log 2>&1 ||
    rm -rf build/pytorch
fi
[[ -x $python ]] || python=/usr/bin/python3
exec /usr/bin/python3 scripts/bench_compare.py --pytorch "$python" "$@"
