#!/usr/bin/env bash
# Disk cache beside files, SQLite and LMDB; memory cache beside NSCache.
# ROUNDS (3 and 11) for the median. PARTS (entries pixels open bursts full stream) narrows what is measured of the disk
# cache. THREADS (1,2) are the numbers of threads that use the memory cache, such as 1,2,4,8,16.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-cache-disk bench-cache-memory
# shellcheck disable=SC2086
record cache-disk .build/benchmarks/release/bench-cache-disk ${PARTS:-}
record cache-memory .build/benchmarks/release/bench-cache-memory
