#!/usr/bin/env bash
# vitrine-server beside thumbor and pyvips, measured with wrk.
# Rate, latency, CPU and memory. Each run takes SECONDS_EACH (5). FORMATS (jpg webp avif hits), KINDS of sources (jpg
# progressive png webp), CONNECTIONS (1 16 64) and PEERS (vitrine pyvips thumbor) narrow it. FORMATS=flat loads
# vitrine-server alone for FLAT_SECONDS (300), and prints its memory on the way. FORMATS=greedy prints how long a client waits
# beside another's 60 connections that ask for AVIF of 12 megapixels.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-server vitrine-codecs
record server .build/server-peers/bin/python Scripts/bench/server.py .build/release/vitrine-server
