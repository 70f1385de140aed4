#!/usr/bin/env bash
# An estimate for a hundred servers, from the results of fleet.
# What they ask of Redis and S3. VITRINE_TRACES is a folder with the requests; without it they are made up. SERVERS
# (100), REQUESTS (20,000 a second at the CDN) and IMAGES (10,000,000 in all) are the size of the fleet.
source "$(dirname "$0")/../lib/common.sh"
record fleet-estimate python Scripts/bench/fleet-estimate.py Benchmarks/Results/fleet.txt
