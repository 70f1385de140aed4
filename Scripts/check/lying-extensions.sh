#!/usr/bin/env bash
# Decoders, loaders, caches and other code of a program's own that lies, in release under the address sanitizer.
# Each lie must end in an error of Vitrine's own or in a right answer. CASES, the beginning of their names, narrows it.
source "$(dirname "$0")/../lib/common.sh"
setup
work=.build/lies
build -c release --package-path Fuzz --scratch-path $work --product lying-extensions --sanitize=address
# A report of the crash handler would hide that of the sanitizer.
export SWIFT_BACKTRACE=enable=no TMPDIR=$PWD/$work/tmp
rm -rf "$TMPDIR"
mkdir -p "$TMPDIR"
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096 \
  $work/release/lying-extensions ${CASES:+"$CASES"} >"$work/report.txt" && status=0 || status=$?
grep -aE '^(fault:|[0-9]+ lies:|hang )' "$work/report.txt" || tail -n 3 "$work/report.txt"
echo "what became of each: $work/report.txt"
exit "$status"
