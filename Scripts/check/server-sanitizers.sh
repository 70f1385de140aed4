#!/usr/bin/env bash
# The server under load and attack, with both sanitizers.
# Its codec processes too, on 127.0.0.1 alone: first all kinds of clients at once for LOAD_SECONDS (120), each byte
# compared, then make check NAME=hostile-clients with COUNT (1,000) damaged files, URLS (20,000) URLs and IDLE (2,000)
# idle connections. Fails if a sanitizer reports anything, the server ends, or a wrong byte is served. SANITIZERS
# (thread address) and ATTACKS narrow it; ATTACKS=none is the load alone. PATIENCE (10) multiplies the bounds of time
# and memory; SEED (1) selects other damage.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/hostile.sh
setup
work=$PWD/.build/server-sanitizers
seconds=${LOAD_SECONDS:-120}
attacks=${ATTACKS:-urls signatures files drawings poison crowd killed heads halves slow idle sources overload flood}
[ "$(id -u)" != 0 ] || export VITRINE_ALLOW_ROOT=on
# Bounds of time and memory, which a sanitizer stretches.
export PATIENCE=${PATIENCE:-10} SWIFT_BACKTRACE=enable=no
export COUNT=${COUNT:-1000} URLS=${URLS:-20000} IDLE=${IDLE:-2000}
failed=0
reader=
trap '[ -z "$reader" ] || kill "$reader" 2>/dev/null || true' EXIT

for sanitizer in ${SANITIZERS:-thread address}; do
  scratch=.build/${sanitizer:0:1}san
  for product in vitrine-server vitrine-codecs; do
    build --sanitize="$sanitizer" --scratch-path "$scratch" --product $product
  done
  echo "server-sanitizers: the $sanitizer sanitizer"
  rm -rf "$work"
  mkdir -p "$work/root/hostile" "$work/load"
  cp Examples/Photographs/* Tests/CodecTests/Fixtures/{alpha.avif,display-p3.heic,alpha.jxl,cmyk.tiff} "$work/root/"
  printf '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160"><rect width="200" height="90" rx="20" fill="#a52"/>%s</svg>' \
    '<circle cx="150" cy="90" r="60" fill="#28c" fill-opacity=".6"/>' >"$work/root/drawing.svg"
  damaged 300 "$work/root/hostile/damaged"

  # Swift's runtime never frees some memory.
  options=detect_leaks=0:suppressions=$PWD/Scripts/lib/asan.supp
  export TSAN_OPTIONS=log_path=$work/report:second_deadlock_stack=1 ASAN_OPTIONS=$options:log_path=$work/report
  # A codec process has no environment, no files and /dev/null as its standard error: it is given the options, and a pipe.
  # It cannot start the program that finds the names of functions, nor keep much freed memory within its limit.
  mkfifo "$work/pipe"
  exec 8<>"$work/pipe"
  cat "$work/pipe" >"$work/workers" 8>&- &
  reader=$!
  printf '#!/bin/sh\nexport TSAN_OPTIONS=symbolize=0 ASAN_OPTIONS=%s:symbolize=0:quarantine_size_mb=8\nexec %s "$@" 2>%s\n' \
    "$options" "$PWD/$scratch/debug/vitrine-codecs" "$work/pipe" >"$work/codecs"
  chmod +x "$work/codecs"
  export VITRINE_CODECS_PROGRAM=$work/codecs

  echo "load: all kinds of clients at once for $seconds s"
  python Scripts/check/server-load.py "$PWD/$scratch/debug/vitrine-server" --root "$work/root" --work "$work/load" \
    --seconds "$seconds" 8>&- || failed=1
  [ "$attacks" = none ] || SERVER=$PWD/$scratch/debug/vitrine-server ATTACKS=$attacks Scripts/check/hostile-clients.sh 8>&- || failed=1

  exec 8>&-
  wait "$reader"
  reader=
  reports=$(ls "$work"/report.* 2>/dev/null || true)
  # Where a server's file could not be written, and those of codec processes.
  grep -lE '(ERROR|WARNING|SUMMARY): [A-Za-z]*Sanitizer' "$work/workers" "$work/load/server.log" >"$work/others" || true
  for report in $reports $(cat "$work/others"); do
    failed=1
    echo "server-sanitizers: a report, $report:"
    head -n 60 "$report"
  done
  [ -n "$reports" ] || [ -s "$work/others" ] || echo "server-sanitizers: the $sanitizer sanitizer reports nothing"
  # The reports of the next one are its own.
  rm -rf "$PWD/.build/server-sanitizers-$sanitizer"
  mv "$work" "$PWD/.build/server-sanitizers-$sanitizer"
done
exit $failed
