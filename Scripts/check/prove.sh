#!/usr/bin/env bash
# When each benchmark and check was last run with a result, and of which commit.
# Prints a line for each result in Benchmarks/Results (RESULTS), and one for each benchmark and check that has none: nobody has
# committed a run of it. A run `with parameters` may have done a part only; its command is in the file. `+ changes` means that
# something was not committed then, and an age that is counted in commits says how much has changed since.
source "$(dirname "$0")/../lib/common.sh"
results=${RESULTS:-Benchmarks/Results}
field() { sed -n "1,4s/^$1: *//p" "$2"; }

show() { # kind, name, file
  local commit age parameters='' count
  commit=$(field commit "$3")
  count=$(git rev-list --count "${commit%% *}..HEAD" 2>/dev/null) && age="$count commits ago" || age="not in this history"
  [[ $(field command "$3") != *" NAME=$2 "* ]] || parameters=', with parameters'
  printf '%-6s %-24s %-17s %-19s %s\n' "$1" "$(basename "$3" .txt)" "$(field date "$3" | sed 's/ UTC//')" "$commit" "$age$parameters"
}

printf '%-6s %-24s %-17s %-19s %s\n' kind result date commit age
missing=()
for file in Scripts/bench/*.sh Scripts/check/*.sh; do
  kind=$(basename "$(dirname "$file")") name=$(basename "$file" .sh) found=0
  [ "$name" != prove ] || continue
  for result in $(sed -nE 's/^ *record "?([a-z0-9-]+).*/\1/p' "$file") "checks/$name"; do
    [ "$kind/${result%/*}" != bench/checks ] && [ -e "$results/$result.txt" ] || continue
    show "$kind" "$name" "$results/$result.txt"
    found=1
  done
  [ "$found" = 1 ] || missing+=("$kind $name")
done
for entry in "${missing[@]}"; do printf '%-6s %-24s %s\n' "${entry% *}" "${entry#* }" "no result is committed"; done
