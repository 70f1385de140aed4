#!/usr/bin/env bash
# The hit ratios of eviction policies.
# On traces of the folder VITRINE_TRACES, or synthetic requests. Draws a picture for the documentation, too.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-policy
mkdir -p Sources/Caching/VitrineCaching.docc/Resources
record policy .build/benchmarks/release/bench-policy Sources/Caching/VitrineCaching.docc/Resources/policies.svg
