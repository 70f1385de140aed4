#!/usr/bin/env bash
# Uses the gallery as a person does, with keys and the pointer, on a virtual display with a window manager: opens a folder,
# goes on 50 times, zooms, pans, fills the screen, moves to the trash, undoes, goes back, searches. Titles are checked;
# the screenshots are in .build/gallery-session, to be looked at. `gallery-session.sh PROGRAM FOLDER`
set -euo pipefail
program=$(realpath "${1:-.build/release/vitrine-gallery}")
photos=$(realpath "${2:-Examples/Photographs}")
if [ -z "${VITRINE_SESSION:-}" ]; then
  VITRINE_SESSION=1 exec Scripts/headless.sh "$0" "$program" "$photos"
fi
output=$PWD/.build/gallery-session
rm -rf "$output"
mkdir -p "$output/home" "$output/photos"
export HOME=$output/home GDK_DEBUG=gl-disable GTK_A11Y=none
unset XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME
# Copies, under names in order, of which there are enough to go on.
count=0
while [ "$count" -lt 60 ]; do
  for file in "$photos"/*.jpg "$photos"/*.png "$photos"/*.webp; do
    [ -f "$file" ] && [ "$count" -lt 60 ] || continue
    count=$((count + 1))
    cp "$file" "$(printf '%s/photos/%03d.%s' "$output" "$count" "${file##*.}")"
  done
  [ "$count" -gt 0 ] || { echo "gallery-session: there are no pictures in $photos" >&2; exit 1; }
done
openbox >/dev/null 2>&1 &
manager=$!
"$program" --new-instance --times "$output/photos" >"$output/log.txt" 2>&1 &
gallery=$!
trap 'kill $gallery $manager 2>/dev/null || true' EXIT
for _ in $(seq 200); do
  grep -q "first screen" "$output/log.txt" && break
  sleep 0.1
done
window=$(xdotool search --onlyvisible --name '^photos$' | head -n 1)
xdotool windowactivate --sync "$window"
faults=0
# Titles follow within a moment; what they must be is what the last step asked for.
check() { # step, title
  local title
  for _ in $(seq 100); do
    title=$(xdotool getwindowname "$window" || true)
    [ "${title%.*}" = "$2" ] && break
    sleep 0.1
  done
  sleep 0.7
  import -window root "$output/$1.png"
  if [ "${title%.*}" = "$2" ]; then
    echo "$1: $title"
  else
    echo "gallery-session: after '$1' the title is '$title' instead of '$2'" >&2
    faults=$((faults + 1))
  fi
}
check grid photos
xdotool key Home Return
check open 001
for _ in $(seq 50); do xdotool key Right; done
check next 051
xdotool key ctrl+plus ctrl+plus ctrl+plus ctrl+plus ctrl+plus
check zoom 051
xdotool mousemove 640 450 mousedown 1 mousemove 560 420 mousemove 480 380 mouseup 1
check pan 051
xdotool key ctrl+0 F11
check full-screen 051
xdotool key F11 F9
check information 051
xdotool key Delete
check trash 052
[ ! -e "$(compgen -G "$output/photos/051.*" || true)" ] || { echo "gallery-session: 051 is still there" >&2; faults=$((faults + 1)); }
xdotool key ctrl+z
check undo 051
xdotool key Escape
check back photos
xdotool key ctrl+f
xdotool type 01
check search photos
xdotool key Escape ctrl+shift+s ctrl+shift+o
check statistics photos
kill -0 "$gallery" 2>/dev/null || { echo "gallery-session: the gallery has ended" >&2; faults=$((faults + 1)); }
cat "$output/log.txt"
awk '/VmRSS|VmHWM/ { print "memory:", $0 }' "/proc/$gallery/status"
echo "$faults faults; the screenshots are in .build/gallery-session"
exit $((faults > 0))
