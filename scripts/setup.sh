#!/usr/bin/env bash
# setup.sh [--preset NAME] [--packages] [GROUP...]: sets up this machine and builds. Installs the missing packages of the groups (listed in
# scripts/packages.txt), configures, and compiles into build/NAME (default: release; CMakePresets.json has the names). A preset that needs packages
# of its own has a group of its name. Default groups: build and figures, which the README's first page uses. With the group `tests` it builds
# everything, with `python` the program and the Python package, else the program. With --packages it installs packages and builds nothing. A
# second run does only what is left.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
refuse() { echo "setup.sh: $*" >&2; exit 2; }
listed() { grep -qxF -- "$1" <<<"$2"; }
known_groups=$(sed -n 's/^\[\(.*\)\].*/\1/p' scripts/packages.txt)
known_presets=$(sed -n 's/.*"configurePreset": "\([^"]*\)".*/\1/p' CMakePresets.json | sort -u)
preset=release groups=() builds=1
while (($#)); do
  case $1 in
    --help | -h) sed -n '2,/^[^#]/s/^# \?//p' scripts/setup.sh; exit ;;
    --preset) preset=${2-} && shift $(($# > 1)) ;;
    --packages) builds= ;;
    --preset=*) preset=${1#*=} ;;
    -*) refuse "there is no option '$1'; setup.sh --help shows those there are" ;;
    *) listed "$1" "$known_groups" || refuse "there is no group '$1' in scripts/packages.txt; choose from ${known_groups//$'\n'/, }"
      groups+=("$1") ;;
  esac
  shift
done
listed "$preset" "$known_presets" || refuse "--preset: there is no '$preset' in CMakePresets.json; choose from ${known_presets//$'\n'/, }"
((${#groups[@]})) || groups=(build figures)
! listed "$preset" "$known_groups" || groups+=("$preset")
set -- "${groups[@]}"

log=build/setup.log
mkdir -p build
: >"$log"

say() { printf '[set-up] %s\n' "$*"; }

# Runs a command with its output in the log. If it fails, prints the end of the log.
logged() {
  printf '\n$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 || {
    local code=$?
    tail -n 40 "$log" >&2
    return "$code"
  }
}

# Prints the packages of the given groups, one per line.
packages() {
  local group='' line wanted=" $* "
  while read -r line; do
    line=${line%%#*}
    case $line in
      '['*']'*) group=${line#[} group=${group%%]*} ;;
      ?*) [[ $wanted == *" $group "* ]] && echo "${line%% *}" ;;
    esac
  done <scripts/packages.txt
  return 0
}

missing() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
  ! command -v npm >/dev/null || installed+=$'\nnpm' # NodeSource's nodejs includes npm and conflicts with Debian's
  printf '%s\n' "$@" | grep -vxF "$installed" || true
}

apt() { # the package lists may be missing or old: after a failure, refreshes them and tries again
  local as_root=() attempt
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || { say "not root, and there is no sudo"; return 1; }
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  for attempt in 1 2 3; do
    "${as_root[@]}" install --no-install-recommends "$@" >>"$log" 2>&1 && return
    [[ $attempt -lt 3 ]] && "${as_root[@]}" update >>"$log" 2>&1
    sleep $((2 * attempt - 2))
  done
  tail -n 15 "$log" >&2
  return 1
}

mapfile -t wanted < <(packages "$@")
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  say "no apt-get here: going on with what CMake finds. Needed, by Debian's names, with the versions of Debian 12 or newer:"
  sed -n '/^\[/p; s/^[a-z]/  &/p' scripts/packages.txt
else
  mapfile -t lacking < <(missing "${wanted[@]}")
  if ((${#lacking[@]})); then
    say "installing ${#lacking[@]} Debian packages"
    apt "${lacking[@]}" || for group in "$@"; do # a group that cannot be installed does not stop the others
      mapfile -t wanted < <(packages "$group")
      mapfile -t lacking < <(missing "${wanted[@]}")
      ((${#lacking[@]} == 0)) || apt "${lacking[@]}" ||
        say "could not install [$group]; going on without it. To do by hand: apt-get install ${lacking[*]}"
    done
  fi
fi

[[ $builds ]] || exit 0
settings=(-DSOFTALIGN_TESTS=OFF) targets=(softalign)
[[ " $* " != *' python '* ]] || targets+=(softalign_python)
[[ -e build/$preset/CMakeCache.txt ]] && settings=() # an existing build keeps its tests
[[ " $* " == *' tests '* ]] && settings=(-DSOFTALIGN_TESTS=ON) targets=(all)
[[ $preset != fuzz ]] || targets=(fuzzers)
say "configuring"
logged cmake --preset "$preset" "${settings[@]}" || {
  say "CMake stopped, see above (and $log): a library that it did not find is named there; scripts/packages.txt has its package"
  exit 1
}
every=30 # seconds
# Passes on the output of ninja, but replaces the lines "[done/all] file" by a count every 30 seconds, which suits a log.
counted() {
  local part line='' status files='no file is done' due=$((SECONDS + every))
  while true; do
    if ((SECONDS >= due)); then
      due=$((SECONDS + every))
      say "compiling: $files"
    fi
    status=0
    IFS= read -r -t $((due - SECONDS)) part || status=$?
    line+=$part
    ((status <= 128)) || continue # timeout
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      files="${BASH_REMATCH[1]} files are done, $((BASH_REMATCH[2] - BASH_REMATCH[1])) left"
    elif [[ -n $line ]]; then
      printf '%s\n' "$line"
    fi
    line=''
    ((status == 0)) || return 0
  done
}

say "compiling on $(nproc) cores"
build=(cmake --build --preset "$preset" --target "${targets[@]}" -- -j "$(nproc)")
if [[ -t 1 ]]; then
  "${build[@]}"
else
  NINJA_STATUS='[%f/%t] ' "${build[@]}" | counted
fi
say "ready after $SECONDS s"
