#!/usr/bin/env bash
# Three servers, Redis, a bucket and Varnish, each killed in turn.
# Under load: RATE (120) requests a second and NEW (4) new images a second, for SECONDS_EACH (10) of each phase. Every
# answer is compared with that of a server that works alone. Fails if a byte is wrong, an image could not be had
# although a way to it was open, or something does not recover.
source "$(dirname "$0")/../lib/common.sh"
setup || echo "demo: going on without what cannot be installed"
release vitrine-server vitrine-codecs
exec /usr/bin/python3 Scripts/demo/fleet.py .build/release/vitrine-server
