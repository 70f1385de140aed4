#!/usr/bin/env bash
# An image in memory, on disk, from a server and cold.
# CPU, the median of ROUNDS (11), and allocations. PARTS (cold waiting memory disk network) narrows it; WAITING (100000)
# is the number of tasks that wait. Fails if a step allocates more often than its limit.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-pipeline
# shellcheck disable=SC2086
record pipeline .build/benchmarks/release/bench-pipeline ${PARTS:-}
