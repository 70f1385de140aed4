#!/usr/bin/env bash
# A chart for the documentation: when a page of 200 images has each.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-pipeline
mkdir -p Sources/Vitrine/Vitrine.docc/Resources
.build/benchmarks/release/bench-pipeline --page Sources/Vitrine/Vitrine.docc/Resources/page.svg
