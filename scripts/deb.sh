#!/usr/bin/env bash
# deb.sh: builds softalign and packages it as build/release/softalign_VERSION_ARCHITECTURE.deb, for the Debian release of this machine. To install
# it: apt-get install ./FILE.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1-} != -h && ${1-} != --help ]] || { sed -n '2,/^[^#]/s/^# \?//p' scripts/deb.sh; exit; }
(($# == 0)) || { echo "deb.sh: takes no '$1'; deb.sh --help" >&2; exit 2; }
scripts/setup.sh build python deb
cmake --build build/release --target softalign softalign_python -- --quiet
(cd build/release && cpack >cpack.log) || { tail -n 20 build/release/cpack.log >&2; exit 1; }
lintian --fail-on error build/release/softalign_*.deb
ls -l build/release/softalign_*.deb
