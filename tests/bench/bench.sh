#!/usr/bin/env bash
# bench.sh [--json FILE] [--rounds N] [--configurations small,long] [--peers eager,jax] [...]: compares softalign with PyTorch and JAX, which take turns, in one table.
# Builds softalign_bench. Uses the PyTorch of build/pytorch (installed there from PyPI if PyPI can be reached), else Debian's
# python3-torch, else reports that there is none and measures softalign alone. All options: bench.sh --help.
set -euo pipefail
cd "$(dirname "$0")/../.."
[[ -x /usr/bin/python3 ]] || scripts/setup.sh build tests
exec /usr/bin/python3 tests/bench/compare.py --build "$@"
