#!/usr/bin/env bash
# Caches and pipeline under long load and both sanitizers.
# For SOAK_SECONDS (60). SANITIZERS (thread address) narrows it; a memory cache is raced by 16 threads under that of
# threads.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
setup
export VITRINE_SOAK_SECONDS=${SOAK_SECONDS:-60}
for sanitizer in ${SANITIZERS:-thread address}; do
  suites=SoakTests
  [ "$sanitizer" != thread ] || suites+='|MemoryCacheRaceTests'
  sanitized "$sanitizer" --filter "$suites"
done
