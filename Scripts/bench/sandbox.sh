#!/usr/bin/env bash
# Decoding in a sandbox and in the program: CPU, memory.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-codecs
benchmarks bench-sandbox
measure() {
  .build/benchmarks/release/bench-sandbox .build/release/vitrine-codecs
  printf '\nThe same where program and worker share a core:\n'
  taskset -c 0 .build/benchmarks/release/bench-sandbox .build/release/vitrine-codecs " px"
}
record sandbox measure
