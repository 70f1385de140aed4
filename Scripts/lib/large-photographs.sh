#!/usr/bin/env bash
# Makes a photograph of 100 megapixels in a folder, as JPEG, progressive JPEG, PNG and TIFF: a mosaic of photographs of
# VITRINE_CORPUS, or of Examples/Photographs. Does nothing if it is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:?the folder}
mkdir -p "$folder"
[ -f "$folder/photo-lzw.tif" ] && exit 0
echo "Making photographs of 100 megapixels in $folder (about a minute)"
sources=()
if [ -n "${VITRINE_CORPUS:-}" ]; then
  for name in tests/42_IndexError hdr/iphone_hdr_YES mobile/jolla hdr/iphone_hdr_NO; do
    [ -f "$VITRINE_CORPUS/photos/jpg/$name.jpg" ] && sources+=("$VITRINE_CORPUS/photos/jpg/$name.jpg")
  done
fi
[ ${#sources[@]} -gt 0 ] || sources=(Examples/Photographs/waterfall-cliff-large.jpg)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
parts=()
for index in $(seq 0 15); do
  source=${sources[$((index % ${#sources[@]}))]}
  # Parts in different places, some of them mirrored, so that no two are the same.
  width=$(vipsheader -f width "$source") height=$(vipsheader -f height "$source")
  if [ "$width" -lt 3300 ] || [ "$height" -lt 2400 ]; then
    vips resize "$source" "$work/large.v" "$(awk "BEGIN { w = 3300 / $width; h = 2448 / $height; print (w > h ? w : h) }")"
  else
    vips copy "$source" "$work/large.v"
  fi
  vips crop "$work/large.v" "$work/$index.v" $((index * 8)) $((index * 27)) 3125 2000
  case $((index / 4)) in
    1) vips flip "$work/$index.v" "$work/flipped.v" horizontal && mv "$work/flipped.v" "$work/$index.v" ;;
    2) vips flip "$work/$index.v" "$work/flipped.v" vertical && mv "$work/flipped.v" "$work/$index.v" ;;
  esac
  parts+=("$work/$index.v")
done
vips arrayjoin "${parts[*]}" "$work/all.v" --across 4
vips jpegsave "$work/all.v" "$folder/photo.jpg" --Q 90 --strip
vips jpegsave "$work/all.v" "$folder/photo-progressive.jpg" --Q 90 --interlace --strip
vips pngsave "$work/all.v" "$folder/photo.png" --compression 6 --filter all --strip
vips tiffsave "$work/all.v" "$folder/photo.tif" --strip
vips tiffsave "$work/all.v" "$folder/photo-lzw.tif" --compression lzw --predictor horizontal --strip
