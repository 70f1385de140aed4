#!/usr/bin/env bash
# Runs `vitrine thumbnail` on files that claim gigabytes. Fails if one is not refused, or takes the process more than 100 ms
# of CPU time or 64 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
vitrine=${VITRINE:-.build/release/vitrine}
swift build -c release --package-path Fuzz --scratch-path .build/bombs --product hostile-images 2>&1 | grep -E 'error' || true
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
.build/bombs/release/hostile-images "$folder/in" >"$folder/list"
mkdir "$folder/out"

failures=0
printf '%-40s %9s %7s %7s  %s\n' file bytes "CPU ms" MB "message"
while read -r name limit bytes; do
  status=0
  /usr/bin/time -f '%U %S %M' -o "$folder/time" "$vitrine" thumbnail "$folder/in/$name" --size 300x300 -o "$folder/out/" \
    2>"$folder/said" >/dev/null || status=$?
  read -r milliseconds megabytes < <(tail -n 1 "$folder/time" | awk '{ printf "%d %d\n", ($1 + $2) * 1000, $3 / 1024 }')
  said=$(sed -E "s|^vitrine: [^:]*: ||" "$folder/said" | head -n 1)
  verdict=""
  if [ "$limit" != - ]; then
    [ "$status" -eq 1 ] && [[ $said == *limit* ]] || verdict="NOT REFUSED BY ITS LIMIT ($limit) "
  fi
  [ "$status" -le 1 ] || verdict+="ENDED WITH $status "
  [ "$milliseconds" -lt 100 ] || verdict+="TOO SLOW "
  [ "$megabytes" -lt 64 ] || verdict+="TOO LARGE "
  [ -z "$verdict" ] || failures=$((failures + 1))
  printf '%-40s %9s %7s %7s  %s%s\n' "$name" "$bytes" "$milliseconds" "$megabytes" "$verdict" "${said:-decoded}"
done <"$folder/list"
[ "$failures" -eq 0 ] || { echo "bombs: $failures were not refused cheaply" >&2; exit 1; }
