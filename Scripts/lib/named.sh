#!/usr/bin/env bash
# `named.sh bench|check|demo [NAME]`: runs the script of that name, or shows its comment if HELP is set. Lists all names without one.
# A check that passes leaves when, and of which commit, in Benchmarks/Results/checks (RESULTS), for `make check NAME=prove`.
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=$1 name=${2:-}
list() {
  local file
  for file in "Scripts/$kind"/*.sh; do
    printf '  %-18s %s\n' "$(basename "$file" .sh)" "$(sed -n '2s/^# //p' "$file")"
  done
}
if [ -z "$name" ]; then
  echo "make $kind NAME=…, with HELP=1 for what it does and takes:"
  list
elif ! [[ $name =~ ^[a-z0-9-]+$ ]] || ! [ -e "Scripts/$kind/$name.sh" ]; then
  { echo "make $kind: there is no NAME=$name. There are:"; list; } >&2
  exit 64
elif [ -n "${HELP:-}" ]; then
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "Scripts/$kind/$name.sh"
elif [ "$kind" = check ] && [ "$name" != prove ]; then
  source Scripts/lib/common.sh
  "Scripts/check/$name.sh"
  script=check/$name passed "$SECONDS"
else
  exec "Scripts/$kind/$name.sh"
fi
