#!/usr/bin/env bash
# Thumbnails and program sizes beside other programs.
# The least of ROUNDS (3). KINDS, with commas (baseline,png), narrows it; BEFORE is an older tool to compare with,
# PICTURES a folder for the thumbnails. Photographs are those of VITRINE_CORPUS. The tool is measured as it is
# installed, in .build/installed.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine vitrine-codecs
static=()
[ "$(uname)" != Linux ] || static=(--static-swift-stdlib)
benchmarks ${static[@]+"${static[@]}"} measure start-imaging start-codecs bench-imaging
PRODUCTS="vitrine vitrine-codecs" DESTDIR=$PWD/.build/installed PREFIX=/usr Scripts/install.sh install
export VITRINE=.build/installed/usr/bin/vitrine
record imaging .build/benchmarks/release/bench-imaging
