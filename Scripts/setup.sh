#!/usr/bin/env bash
# Installs what is missing of Scripts/packages.txt, and says what and why: what is needed to build Vitrine, and what GROUP needs,
# which is `test` or a script such as docs or bench/imaging. `setup.sh packages PRODUCT` lists the packages of a product; the README
# and Package.swift are checked against them.
set -euo pipefail
cd "$(dirname "$0")/.."

rows() { # names; `needed` are all products. Prints: package|test|reason|who needs it
  awk -F ' *[|] *' -v names=" $* " '!/^#/ && NF == 4 {
    count = split($4, words, " ")
    for (i = 1; i <= count; i++) {
      isNeeded = words[i] == "all" || words[i] ~ /^[Vv]itrine/
      if (index(names, " " words[i] " ") || (isNeeded && index(names, " needed "))) {
        print $1 "|" $2 "|" $3 "|" words[i]
        next
      }
    }
  }' Scripts/packages.txt
}

if [ "${1:-}" = packages ]; then
  rows "$2" | awk -F '|' '$2 !~ /^with / { print $1 }' | xargs
  exit 0
fi
if [ -n "${1:-}" ] && [ "$1" != test ] && ! [ -e "Scripts/$1.sh" ]; then
  echo "setup: there is no script Scripts/$1.sh" >&2
  exit 64
fi

if ! command -v swift >/dev/null; then
  echo "setup: swift is missing; see https://www.swift.org/install" >&2
  exit 1
fi

# macOS has all that Vitrine needs.
[ "$(uname)" = Darwin ] && exit 0

is_there() { # kind name
  case $1 in
    command) PATH=$PATH:/usr/sbin command -v "$2" >/dev/null ;;
    program) command -v "$2" >/dev/null || compgen -G ".build/*/bin/$2" >/dev/null ;;
    file) compgen -G "$2" >/dev/null ;;
    module) pkg-config --exists "$2" 2>/dev/null ;;
    # Debian's packages belong to Debian's Python, even if another one comes first in PATH.
    python) /usr/bin/python3 -c "import $2" 2>/dev/null ;;
    loader) compgen -G "/usr/lib/*/gdk-pixbuf-2.0/*/loaders/*[-_]$2.so" >/dev/null ;;
    header) echo "#include <stdio.h>
#include <$2>" | clang -x c -fsyntax-only - 2>/dev/null || [ -e "/usr/include/$2" ] ;;
    with) [[ " ${missing[*]} " != *" $2 "* ]] ;;
  esac
}

missing=()
environments=()
while IFS='|' read -r package kind reason whose; do
  # shellcheck disable=SC2086
  if ! is_there $kind; then
    [ "$whose" = all ] || reason+=", for $whose"
    echo "setup: $package is missing ($reason)"
    if [[ $package == *:* ]]; then environments+=("$package"); else missing+=("$package"); fi
  fi
done < <(rows needed "${1:-}")

if [ ${#missing[@]} -gt 0 ]; then
  if ! command -v apt-get >/dev/null; then
    echo "setup: this is neither Debian nor Ubuntu; install the equivalents of these packages: ${missing[*]}" >&2
    exit 1
  fi
  sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: run as root: apt-get install ${missing[*]}" >&2; exit 1; }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq
  available=()
  for package in "${missing[@]}"; do
    # Older releases have the plugins of libheif within it.
    [[ $package == *-plugin-* ]] && ! apt-cache show "$package" >/dev/null 2>&1 || available+=("$package")
  done
  echo "setup: installing ${available[*]}${sudo:+ with sudo}"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${available[@]}" >/dev/null
  # Debian starts a server when it is installed, but the tests start their own.
  for server in nginx-light:nginx redis-server:redis-server varnish:varnish; do
    if [[ " ${missing[*]} " == *" ${server%%:*} "* ]] && command -v systemctl >/dev/null; then
      "${sudo[@]}" systemctl disable --now "${server##*:}" >/dev/null 2>&1 || true
    fi
  done
fi

for entry in ${environments[@]+"${environments[@]}"}; do
  folder=${entry%%:*}
  # shellcheck disable=SC2086
  { /usr/bin/python3 -m venv "$folder" && "$folder/bin/pip" install -q --retries 1 --timeout 20 ${entry#*: }; } >/dev/null 2>&1 ||
    { rm -rf "$folder"; echo "setup: $folder cannot be installed, so what needs it is skipped"; }
done
[ ${#missing[@]}${#environments[@]} = 00 ] || echo "setup: done"
