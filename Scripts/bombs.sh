#!/usr/bin/env bash
# Runs `vitrine thumbnail` on files that ask for gigabytes or for ever, and measures it together with its codec processes.
# Fails if a file is not refused by the limit that it exceeds, or takes more than 10 s or 400 MB. A file that is refused for
# its header may take 100 ms of CPU time and 64 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
vitrine=${VITRINE:-.build/release/vitrine}
swift build -c release --package-path Fuzz --scratch-path .build/bombs --product hostile-images 2>&1 | grep -E 'error' || true
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
clang -O1 -o "$folder/measure" Benchmarks/Sources/measure/main.c
.build/bombs/release/hostile-images "$folder/in" >"$folder/list"
mkdir "$folder/out"

failures=0
count=0
printf '%-40s %9s %7s %7s %7s  %s\n' file bytes "CPU ms" MB ms "message"
while read -r name limit bytes; do
  "$folder/measure" -o "$folder/time" timeout -s KILL 30 "$vitrine" thumbnail "$folder/in/$name" --size 300x300 \
    --time-limit 5 -o "$folder/out/" 2>"$folder/said" >/dev/null
  read -r milliseconds elapsed megabytes status <"$folder/time"
  ((milliseconds /= 1000, elapsed /= 1000, megabytes /= 1024)) || true
  said=$(sed -E "s|^vitrine: [^:]*: ||" "$folder/said" | head -n 1)
  verdict=""
  if [ "$limit" != - ] && [ "$limit" != any ]; then
    [ "$status" -eq 1 ] && [[ $said == *limit* ]] || verdict="NOT REFUSED BY ITS LIMIT ($limit) "
    [ "$milliseconds" -lt 100 ] || verdict+="TOO SLOW "
    [ "$megabytes" -lt 64 ] || verdict+="TOO LARGE "
  fi
  [ "$status" -le 1 ] || verdict+="ENDED WITH $status "
  [ "$elapsed" -lt 10000 ] || verdict+="TOO SLOW "
  [ "$megabytes" -lt 400 ] || verdict+="TOO LARGE "
  [ -z "$verdict" ] || failures=$((failures + 1))
  count=$((count + 1))
  printf '%-40s %9s %7s %7s %7s  %s%s\n' "$name" "$bytes" "$milliseconds" "$megabytes" "$elapsed" "$verdict" "${said:-decoded}"
done <"$folder/list"
[ "$failures" -eq 0 ] || { echo "bombs: $failures of $count were too expensive, or not refused by their limit" >&2; exit 1; }
echo "bombs: $count files, none of them harmful"
