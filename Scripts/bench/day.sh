#!/usr/bin/env bash
# Memory of vitrine-server over the requests of a day, beside pyvips.
# The requests follow one another without pauses, so a day takes some minutes: REQUESTS (43200, one in two seconds), every second
# of which asks for a thumbnail that was never made. Memory is the proportional share (PSS) of all processes of a server. PEERS
# (vitrine pyvips) narrows it. Draws a picture for the documentation, if both have run to the end.
source "$(dirname "$0")/../lib/common.sh"
setup bench/server
release vitrine-server vitrine-codecs
record day .build/server-peers/bin/python Scripts/bench/day.py .build/release/vitrine-server Sources/Server/VitrineServing.docc/Resources/day.svg
