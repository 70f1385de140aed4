#!/usr/bin/env bash
# GIF, APNG, WebP and AVIF in a window: late frames, CPU.
# Each frame's time beside its delay, and the cost of fifty at once. VITRINE_CORPUS has files of APNG and AVIF.
source "$(dirname "$0")/../lib/common.sh"
setup
release bench-gtk vitrine-codecs
files=(Examples/Photographs/boats-animated.gif Examples/Photographs/houses-animated.webp)
for file in formats/tests/images/png/apng/ball.png avif/tests/data/colors-animated-8bpc.avif; do
  [ ! -f "${VITRINE_CORPUS:-}/$file" ] || files+=("$VITRINE_CORPUS/$file")
done
record animation-window Scripts/lib/headless.sh .build/release/bench-gtk animations "${files[@]}" --output .build/animations.png
