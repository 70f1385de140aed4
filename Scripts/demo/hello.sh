#!/usr/bin/env bash
# Examples/HelloGTK, a program of one file; needs a display.
# PHOTOS (Examples/Photographs) is its folder.
source "$(dirname "$0")/../lib/common.sh"
setup
# SwiftPM misses files added to the parent package unless it plans the build anew.
rm -f .build/hello/debug.yaml
build --package-path Examples/HelloGTK --scratch-path .build/hello
exec .build/hello/debug/hello-gtk "$photographs"
