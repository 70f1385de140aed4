#!/usr/bin/env bash
# The documentation's pages, opened from disk in Chromium: links, search, a narrow screen, light and dark.
# Fails if a link leads to no page or no place in it, if a search does not find what it should, or if a page is wider than a
# screen of 390 pixels. SITE (site, which `make docs` writes) is the folder. Pictures of pages are .build/site/*.png.
source "$(dirname "$0")/../lib/common.sh"
setup
folder=${SITE:-site}
[ -e "$folder/index.html" ] || Scripts/docs.sh
mkdir -p .build/site
python Scripts/check/site.py "$folder" .build/site
