#!/usr/bin/env bash
# bench.sh [--json FILE] [--rounds N] [--configurations small,long] [--peers eager,jax] [...]: softalign against PyTorch and JAX, in turns, as one table.
# Builds softalign_bench; takes the PyTorch of build/pytorch (made here from PyPI when it can be had), else Debian's
# python3-torch, else measures softalign alone and says so. All options: bench.sh --help.
set -euo pipefail
cd "$(dirname "$0")/../.."
[[ -x /usr/bin/python3 ]] || scripts/setup.sh build tests
exec /usr/bin/python3 tests/bench/compare.py --build "$@"
