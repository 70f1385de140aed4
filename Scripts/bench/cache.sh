#!/usr/bin/env bash
# Disk cache beside files, SQLite, LMDB; memory, NSCache.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-cache-disk bench-cache-memory
record cache-disk .build/benchmarks/release/bench-cache-disk
record cache-memory .build/benchmarks/release/bench-cache-memory
