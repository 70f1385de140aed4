#!/usr/bin/env bash
# OpenSeadragon in Chromium, which shows a photograph of 24 megapixels by IIIF and by Deep Zoom.
# OpenSeadragon is that of the sources of openslide-python on PyPI. The page is .build/viewer.png.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine vitrine-server vitrine-codecs
[ -f .build/openseadragon.js ] || {
  folder=$(mktemp -d)
  /usr/bin/python3 -m venv "$folder/python"
  "$folder/python/bin/pip" download -q --no-deps --no-binary :all: -d "$folder" openslide-python==1.4.7
  tar -xzOf "$folder"/openslide_python-*.tar.gz --wildcards '*/static/openseadragon.js' >.build/openseadragon.js
  rm -rf "$folder"
}
python Scripts/check/viewer.py .build/release .build/openseadragon.js .build/viewer.png
