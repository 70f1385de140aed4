#!/usr/bin/env bash
# The server through Varnish, its images in Chromium.
# The page is .build/browser.png.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-server vitrine-codecs
python Scripts/check/browser.py .build/release/vitrine-server .build/browser.png
