# What the scripts of bench, check and demo share: set-up, builds, results. They begin with
# `source "$(dirname "$0")/../lib/common.sh"`, which takes them to the project's folder. A build that fails ends the script.
# shellcheck shell=bash
set -euo pipefail
# The name of the script, such as bench/imaging.
script=$(basename "$(cd "$(dirname "$0")" && pwd)")/$(basename "$0" .sh)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONPATH=$PWD/Scripts/lib PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2034
photographs=${PHOTOS:-Examples/Photographs}

# Installs what the script needs, by the rows of Scripts/packages.txt that name it, or what `setup test` does.
setup() { Scripts/setup.sh "${1:-$script}"; }

# Runs Debian's Python, for which setup installs modules, whatever comes first in PATH.
python() { /usr/bin/python3 "$@"; }

# `build ARGUMENT...`: runs swift build. On a terminal it shows how far it is, elsewhere only what is wrong. Colours are a flag
# of the compiler, so with them on a terminal only, everything would be built again after each change of place.
build() {
  if [ -t 1 ]; then
    swift build --no-color-diagnostics "$@" || exit 1
    return
  fi
  local log
  log=$(mktemp)
  if ! swift build "$@" >"$log" 2>&1; then
    echo "swift build $* has failed:" >&2
    { grep -A 3 'error:' "$log" || tail -n 20 "$log"; } | head -n 60 >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
}

# `release PRODUCT...`: builds products in release mode. With Swift's own libraries linked in, a program starts in half
# the time and runs without a Swift installation; there is no folder beside it in which each library would be looked for first.
release() {
  local flags=(-c release --disable-local-rpath) product
  [ "$(uname)" != Linux ] || flags+=(--static-swift-stdlib)
  for product; do build "${flags[@]}" --product "$product"; done
}

# `products FOLDER SCRATCH [FLAG...] PRODUCT...`: builds programs of a package beside Vitrine's, in release mode.
products() {
  local flags=(-c release --package-path "$1" --scratch-path "$2") argument
  # SwiftPM misses files added to the parent package unless it plans the build anew.
  rm -f "$2/release.yaml"
  for argument in "${@:3}"; do
    if [[ $argument == -* ]]; then flags+=("$argument"); else build "${flags[@]}" --product "$argument"; fi
  done
}
benchmarks() { products Benchmarks .build/benchmarks "$@"; }
hostile_tools() { products Fuzz .build/hostile "$@"; }

# `await_server LOG PID`: waits until a vitrine-server listens. One that ends instead ends the script, with its log.
await_server() {
  for _ in $(seq 100); do
    grep -qs 'listening on' "$1" && return
    kill -0 "$2" 2>/dev/null || { cat "$1" >&2; exit 1; }
    sleep 0.1
  done
}

# The comment at the head of a script.
header() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }

# The command that runs this script as it runs now: the parameters that its header names have values in the environment.
command_line() {
  local line="make ${script%/*} NAME=${script#*/}" word value
  for word in $(header "Scripts/$script.sh" | grep -oE '\b[A-Z][A-Z_]+\b' | sort -u); do
    [[ $word != VITRINE_CORPUS && $word != VITRINE_TRACES ]] && value=$(printenv "$word") && [ -n "$value" ] || continue
    [[ $value != *[![:alnum:]./_-]* ]] || value="'$value'"
    line+=" $word=$value"
  done
  echo "$line"
}

# What makes a result one that can be believed, and repeated.
provenance() {
  local changes='' model system
  # Not those of the results themselves, and of the pictures in the documentation, which benchmarks write too.
  [ -z "$(git status --porcelain -- . ':!Benchmarks/Results' ':(exclude,glob)Sources/**/Resources/**')" ] || changes=' + changes'
  model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
  # shellcheck disable=SC1091
  system=$(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME" || uname -sr)
  echo "commit:  $(git rev-parse --short HEAD)$changes"
  echo "date:    $(date -u '+%Y-%m-%d %H:%M') UTC"
  echo "machine: $(getconf _NPROCESSORS_ONLN) cores, ${model:-$(uname -m)}, load $(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown); $system;" \
    "$(swift --version 2>/dev/null | grep -oE -m 1 'Swift version [0-9.]+')"
  echo "command: $(command_line)"
  echo
}

# `passed SECONDS`: writes that the check `script` has passed, of what, and how long it took.
passed() {
  local folder=${RESULTS:-Benchmarks/Results}/checks
  mkdir -p "$folder"
  { provenance; echo "passed in $1 s"; } >"$folder/${script#*/}.txt"
}

# `record NAME COMMAND...`: runs a command, and writes what it prints to Benchmarks/Results/NAME.txt, or to the folder RESULTS,
# below what it was made of. If the command fails, the result of before stays. With status 3 it has measured everything and
# missed a target: the result is written, and the script fails.
record() {
  local result=${RESULTS:-Benchmarks/Results}/$1.txt new=.build/results/$1.txt status
  shift
  mkdir -p .build/results "$(dirname "$result")"
  set +e
  (set -e; provenance; "$@") | tee "$new"
  status=${PIPESTATUS[0]}
  set -e
  if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then
    echo "$script: failed, so $result stays as it was; what was printed is in $new" >&2
    exit "$status"
  fi
  mv "$new" "$result"
  [ "$status" -eq 0 ] || { echo "$script: a target is missed, see $result" >&2; exit 1; }
}
