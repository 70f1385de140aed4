#!/usr/bin/env bash
# Fuzzes decoders, parsers and caches.
# Under the address sanitizer: TARGETS, or all of them, each for FUZZ_SECONDS (300). Findings are kept in
# .build/fuzz/findings/TARGET. The corpus in .build/fuzz/corpus/TARGET is where the next run continues.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/hostile.sh
setup
seconds=${FUZZ_SECONDS:-300}
work=.build/fuzz
resources=$(swift -print-target-info | sed -nE 's/.*"runtimeResourcePath" *: *"([^"]*)".*/\1/p')
driver=$(ls "$resources"/../clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null | head -n 1)
[ -n "$driver" ] || { echo "fuzzing: this Swift toolchain has no libFuzzer" >&2; exit 1; }

build -c release --package-path Fuzz --scratch-path $work/build --product vitrine-fuzz --sanitize=address \
  -Xswiftc -enable-testing -Xswiftc -sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp,indirect-calls \
  -Xlinker --whole-archive -Xlinker "$driver" -Xlinker --no-whole-archive -Xlinker -lstdc++
program=$work/build/release/vitrine-fuzz

seeds() { # target: seed files
  local names
  case $1 in
    metadata | incremental) names=$(formats extensions 'reader: .builtIn(.|\n)*web:') ;;
    frames) names=$(formats extensions 'motion: .(sometimes|mostly)') ;;
    # The name of a format, and of a way to decode it. Other targets have no pictures.
    *) names=$(formats extensions "name: \"${1%%-*}\"") ;;
  esac
  local extension
  for extension in $names; do
    # Mutating megabytes finds little in the given time.
    find "${all_images[@]}" -name "*.$extension" -size -24k
  done
}

# A report of the crash handler would hide that of the sanitizer.
export SWIFT_BACKTRACE=enable=no
failed=()
for target in ${TARGETS:-$("$program")}; do
  corpus=$work/corpus/$target
  findings=$work/findings/$target
  mkdir -p "$corpus" "$findings"
  index=0
  while IFS= read -r file; do
    cp "$file" "$corpus/seed-$((index++))-$(basename "$file")"
  done < <(seeds "$target")
  [ -d "Fuzz/Seeds/$target" ] && cp "Fuzz/Seeds/$target"/* "$corpus/"
  log=$work/$target.log
  before=$(find "$findings" -type f | wc -l)
  # The driver hangs now and then instead of ending, which must not end this script.
  # No leak detection: Swift stores pointers with extra bits, so cached memory would count as lost. Memory is bounded.
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024 \
    nice timeout -s KILL $((seconds + 120)) "$program" "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -max_len=32768 -print_final_stats=1 -artifact_prefix="$findings/" "$corpus" </dev/null >"$log" 2>&1 || true
  after=$(find "$findings" -type f | wc -l)
  runs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  covered=$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 || true)
  printf '%-12s %10s runs  %-12s %s findings\n' "$target" "${runs:-?}" "$covered" $((after - before))
  if [ "$after" -ne "$before" ] || [ -z "$runs" ]; then
    failed+=("$target")
    grep -m 3 -E 'ERROR:|SUMMARY:|Fatal error' "$log" || tail -n 3 "$log"
  fi
done
[ ${#failed[@]} -eq 0 ] || { echo "fuzzing: see $work/findings and $work/*.log: ${failed[*]}" >&2; exit 1; }
