#!/usr/bin/env bash
# A picture for the documentation: what 200 images wait for.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-pipeline
mkdir -p Sources/Vitrine/Vitrine.docc/Resources
.build/benchmarks/release/bench-pipeline --page Sources/Vitrine/Vitrine.docc/Resources/page.svg
