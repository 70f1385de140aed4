#!/usr/bin/env bash
# The sandbox with hostile files, and with processes that are killed.
# Decodes COUNT (10,000) damaged images and all that ask for gigabytes or for ever. Then it decodes whole ones for
# KILL_SECONDS (60) while the sandbox's processes are killed at random moments. Fails if a picture is wrong, more images
# are lost than processes, or descriptors, memory or processes are left. SEED (1) selects other damage.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/hostile.sh
setup
release vitrine-codecs
hostile_tools sandbox-faults
work=$PWD/.build/sandbox-faults
rm -rf "$work"
mkdir -p "$work/honest"
damaged "${COUNT:-10000}" "$work/hostile/damaged"
demanding "$work/hostile/demanding" >/dev/null
find "${own_images[@]}" -type f -not -name '*.reference.png' \
  -not -name '*.md' -size -500k -exec cp -t "$work/honest" {} +
.build/hostile/release/sandbox-faults "$PWD/.build/release/vitrine-codecs" "${KILL_SECONDS:-60}" "$work/hostile" "$work/honest"
