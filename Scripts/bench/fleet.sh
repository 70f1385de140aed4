#!/usr/bin/env bash
# One to three servers: memory, disk, Redis and S3.
# Rate, latency and CPU of hits in each and of misses, on the same cores. IMAGES (600) is the number of images of a row.
# CONNECTIONS (1 16) and PARTS (one many) narrow it.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-server vitrine-codecs
record fleet python Scripts/bench/fleet.py .build/release/vitrine-server
