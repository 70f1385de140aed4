#!/usr/bin/env bash
# Downloads from nginx beside curl and URLSession.
# Rate, CPU, latency and memory in ROUNDS (5) of REQUESTS (6000); many cancels, and a long run, too. PARTS (rates storm
# soak) narrows it.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks measure bench-http
# shellcheck disable=SC2086
record http .build/benchmarks/release/bench-http ${PARTS:-}
