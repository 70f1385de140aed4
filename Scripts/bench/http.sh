#!/usr/bin/env bash
# Loads from nginx beside curl and URLSession.
# Rate, CPU, latency and memory; many cancels, and a long run, too.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks measure bench-http
record http .build/benchmarks/release/bench-http
