#!/usr/bin/env bash
# The programs of Examples/Programs, built as a package and run.
# Each that needs no display is run on the photographs, from a server on loopback where it takes URLs, and its answer compared.
source "$(dirname "$0")/../lib/common.sh"
setup
build --package-path Examples/Programs --scratch-path .build/programs
work=$(mktemp -d)
python -m http.server --bind 127.0.0.1 --directory Examples/Photographs 0 >"$work/server" 2>&1 &
server=$!
service=''
trap 'kill $server $service 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  port=$(grep -oE 'port [0-9]+' "$work/server" | grep -oE '[0-9]+') && break
  sleep 0.1
done
url=http://127.0.0.1:$port
# A cache of its own.
export XDG_CACHE_HOME=$work/cache PYTHONUNBUFFERED=1
run() { .build/programs/debug/"$@"; }
# `expect TEXT COMMAND...`: runs a program, whose output has to have the text.
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || true
  if [[ $output != *"$text"* ]]; then
    printf '%s: expected "%s", not:\n%s\n' "$*" "$text" "$output" >&2
    exit 1
  fi
  echo "$2: $text"
}
# `sides FILE`: the width and the height of a picture, by another program.
sides() { python -c 'import sys; from PIL import Image; print(*Image.open(sys.argv[1]).size)' "$1"; }

mkdir "$work/out" "$work/thumbnails"
expect "yacht-lossy-alpha.webp: " run downloader "$work/out" "$url/yacht-lossy-alpha.webp" "$url/statue-grey.jpg"
cmp "$work/out/statue-grey.jpg" Examples/Photographs/statue-grey.jpg
expect "404" run downloader "$work/out" "$url/none.jpg"
expect "128 128" run loader-actor "$url/macaws-444.jpg"
expect "passed" run processor
printf 'P6\n2 1\n255\n\377\000\000\000\377\000' >"$work/two.ppm"
expect "ppm 2 1" run decoder "$work/two.ppm" "$work/two.png"
expect "(0, 255, 0)" python -c 'import sys; from PIL import Image; print(Image.open(sys.argv[1]).convert("RGB").getpixel((1, 0)))' "$work/two.png"
expect "disk" run loader-and-cache Examples/Photographs statue-grey.jpg
# Two processes, since memory is asked first.
expect "network 512 768" run sqlite-cache "$work/pictures.db" "$url/statue-grey.jpg"
expect "disk 512 768" run sqlite-cache "$work/pictures.db" "$url/statue-grey.jpg"
expect "unable to open" run sqlite-cache "$work/none/pictures.db" "$url/statue-grey.jpg"
expect " frames" run animation Examples/Photographs/boats-animated.gif "$work/sheet.png" "$work/out.webp"
frames=$(python -c 'import sys; from PIL import Image; print(Image.open(sys.argv[1]).n_frames)' Examples/Photographs/boats-animated.gif)
read -r width height <<<"$(sides Examples/Photographs/boats-animated.gif)"
[ "$(sides "$work/sheet.png")" = "$((width * frames)) $height" ]
count=$(find Examples/Photographs -type f ! -name '*.md' | wc -l)
expect "$count of $count" run batch Examples/Photographs "$work/thumbnails"
expect " 200 " run uploads Examples/Photographs/statue-grey.jpg
expect " 422 " run uploads README.md
expect "network 1" run metrics "$url/red-barn-progressive.jpg"
# Line by line, since it never ends; without the function, whose shell would be killed in its place.
stdbuf -oL .build/programs/debug/avatar-service Examples/Photographs >"$work/avatars" &
service=$!
for _ in $(seq 100); do
  avatar=$(grep -oE 'http://[^ ]*/' "$work/avatars" | head -n 1) && break
  sleep 0.1
done
curl -sf -o "$work/avatar.webp" "${avatar}macaws-444.jpg"
[ "$(sides "$work/avatar.webp")" = "128 128" ]
echo "avatar-service: 128 128"
