#!/usr/bin/env bash
# The server's latency while its Redis or bucket is slow or fails.
# Slow, paused, full, cut off or gone. Fails for a wrong byte, an error, a p99 more than LIMIT_MS (50) above that
# without the tier, or a tier that is not used again. TIERS (redis s3), STATES, SECONDS_EACH (7) and RATES (100 25 25 a
# second) narrow it; REDIS is the server to start. Scripts/check/fleet-faults.py says what the states are.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-server
record fleet-faults python Scripts/check/fleet-faults.py .build/release/vitrine-server
