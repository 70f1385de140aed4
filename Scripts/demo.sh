#!/usr/bin/env bash
# Thumbnails of a folder of photographs and a contact sheet of them. `make demo` has built the two programs.
set -euo pipefail
photos=$1
programs=.build/release

[ -d "$photos" ] || { echo "demo: there is no folder '$photos'" >&2; exit 1; }
mapfile -d '' files < <(find "$photos" -maxdepth 1 -type f ! -name '.*' ! -name '*.md' ! -name '*.txt' -print0 | sort -z)
[ ${#files[@]} -gt 0 ] || { echo "demo: the folder '$photos' is empty" >&2; exit 1; }
if [ ${#files[@]} -gt 400 ]; then
  echo "demo: showing the first 400 of ${#files[@]} files"
  files=("${files[@]:0:400}")
fi

rm -rf demo/thumbnails
mkdir -p demo/thumbnails
echo "vitrine thumbnail $photos/... --size 400x400 -o demo/thumbnails/"
# A file that is no picture is reported and left out.
"$programs/vitrine" thumbnail --size 400x400 -o demo/thumbnails/ -- "${files[@]}" || true
mapfile -d '' thumbnails < <(find demo/thumbnails -type f -print0 | sort -z)
[ ${#thumbnails[@]} -gt 0 ] || { echo "demo: none of the files in '$photos' is a picture" >&2; exit 1; }
"$programs/contact-sheet" demo/contact.png "${thumbnails[@]}"
