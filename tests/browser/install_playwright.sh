#!/usr/bin/env bash
# install_playwright.sh FOLDER: installs playwright-core and axe-core, as pinned in package-lock.json, into FOLDER/node_modules, unless they are there.
# It needs npm and its registry. It does not download a browser: the tests use Debian's chromium.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
if [[ -e installed ]] && cmp -s installed "$here/package-lock.json"; then exit 0; fi
cp "$here/package.json" "$here/package-lock.json" .
npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000
cp package-lock.json installed
