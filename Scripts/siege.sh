#!/usr/bin/env bash
# Decodes COUNT (10,000) damaged images and all that ask for gigabytes or for ever in a sandbox. Then it decodes whole ones for
# KILL_SECONDS (60) while the sandbox's processes are killed at random moments. Fails if a picture is wrong, more images are lost
# than processes, or descriptors, memory or processes are left. SEED selects other damage.
set -euo pipefail
cd "$(dirname "$0")/.."
codecs=$PWD/.build/release/vitrine-codecs
for product in mutate hostile-images siege; do
  swift build -c release --package-path Fuzz --scratch-path .build/bombs --product $product 2>&1 | grep -E 'error' || true
done
work=$PWD/.build/siege
rm -rf "$work"
mkdir -p "$work/hostile/damaged" "$work/honest"
folders=(Examples/Photographs Tests/ImagingTests/Fixtures Tests/CodecTests/Fixtures)
[ -n "${VITRINE_CORPUS:-}" ] && folders+=("$VITRINE_CORPUS")
find "${folders[@]}" -type f -size -200k \
  -regextype posix-extended -iregex '.*\.(jpe?g|png|gif|webp|bmp|ico|qoi|avif|hei[cf]|jxl|tiff?|svg)' | sort >"$work/seeds"
xargs -a "$work/seeds" -d '\n' .build/bombs/release/mutate "${COUNT:-10000}" "${SEED:-1}" "$work/hostile/damaged"
.build/bombs/release/hostile-images "$work/hostile/bombs" >/dev/null
find Examples/Photographs Tests/ImagingTests/Fixtures Tests/CodecTests/Fixtures -type f -not -name '*.reference.png' \
  -not -name '*.md' -size -500k -exec cp -t "$work/honest" {} +
.build/bombs/release/siege "$codecs" "${KILL_SECONDS:-60}" "$work/hostile" "$work/honest"
