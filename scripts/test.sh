#!/usr/bin/env bash
# test.sh [CTEST ARGUMENT...]: sets the machine up, builds everything, runs the tests. `scripts/test.sh -L unit` runs those of one label.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh build figures tests
exec ctest --preset release --parallel "$(nproc)" "$@"
