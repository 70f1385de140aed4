#!/usr/bin/env bash
# The tool's fetch of 500 files beside curl -Z and wget.
# CPU, wall and peak memory, the least of ROUNDS (5) in turns. COUNT (500) is the number of files, of 50 KB each, from nginx.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine vitrine-codecs
benchmarks measure
record fetch python Scripts/bench/fetch.py .build/release/vitrine .build/benchmarks/release/measure
