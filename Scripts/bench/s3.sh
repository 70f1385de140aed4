#!/usr/bin/env bash
# An S3 cache's requests: latency, rate, CPU.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-s3
record s3 .build/benchmarks/release/bench-s3 "$(command -v weed || echo .build/weed/bin/weed)" .build/bench-s3
