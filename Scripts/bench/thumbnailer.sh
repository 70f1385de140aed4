#!/usr/bin/env bash
# The thumbnailer beside gdk-pixbuf-thumbnailer: CPU time.
# The least of ROUNDS (5), in which the two take turns. VITRINE_CORPUS has the files, beside the shipped photographs.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine vitrine-codecs
record thumbnailer python Scripts/bench/thumbnailer.py .build/release/vitrine
