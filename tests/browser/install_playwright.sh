#!/usr/bin/env bash
# install_playwright.sh FOLDER: puts playwright-core and axe-core, the versions and bytes of package-lock.json, into FOLDER/node_modules; nothing twice.
# It needs npm and its registry; no browser is fetched, the tests use Debian's chromium.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
if [[ -e installed ]] && cmp -s installed "$here/package-lock.json"; then exit 0; fi
cp "$here/package.json" "$here/package-lock.json" .
npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000
cp package-lock.json installed
