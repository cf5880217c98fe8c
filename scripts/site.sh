#!/usr/bin/env bash
# site.sh: builds the documentation as HTML pages in build/site, which open from disk and load nothing from a network. Installs mkdocs. Uses the
# program that setup.sh has built, or the one in SOFTALIGN_BINARY_DIR: its help, plugins and keys are pages of the site.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1-} != -h && ${1-} != --help ]] || { sed -n '2,/^[^#]/s/^# \?//p' scripts/site.sh; exit; }
(($# == 0)) || { echo "site.sh: takes no '$1'; site.sh --help" >&2; exit 2; }
command -v mkdocs >/dev/null || scripts/setup.sh --packages site
[[ -n ${SOFTALIGN_BINARY_DIR-} || -x build/release/bin/softalign ]] || scripts/setup.sh build python
/usr/bin/python3 scripts/site_pages.py build/site-source
mkdocs build --quiet --strict --config-file build/site-source/mkdocs.yml --site-dir "$PWD/build/site"
echo "$PWD/build/site/index.html"
