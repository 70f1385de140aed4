#!/usr/bin/env bash
# Runs `vitrine thumbnail` on COUNT (10,000) damaged images, each in its own process with MEMORY (1,024) MB of address space
# and 5 seconds of CPU time. Fails if one crashes or hangs, and keeps its input in .build/torture/failed. SEED selects others.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${COUNT:-10000}
export MEMORY=${MEMORY:-1024}
export VITRINE=${VITRINE:-$PWD/.build/release/vitrine}
swift build -c release --package-path Fuzz --scratch-path .build/bombs --product mutate 2>&1 | grep -E 'error' || true
work=$PWD/.build/torture
rm -rf "$work"
mkdir -p "$work/in" "$work/out" "$work/failed" "$work/bin"
# Copies, so that a concurrent build does not replace them.
cp "$VITRINE" "$work/bin/vitrine"
codecs=$(dirname "$VITRINE")/vitrine-codecs
if [ -x "$codecs" ]; then cp "$codecs" "$work/bin/"; fi
VITRINE=$work/bin/vitrine
folders=(Examples/Photographs Tests/ImagingTests/Fixtures)
[ -d Tests/CodecTests/Fixtures ] && folders+=(Tests/CodecTests/Fixtures)
[ -n "${VITRINE_CORPUS:-}" ] && folders+=("$VITRINE_CORPUS")
find "${folders[@]}" -type f -size -200k \
  -regextype posix-extended -iregex '.*\.(jpe?g|png|gif|webp|bmp|ico|qoi|avif|hei[cf]|jxl|tiff?|svg)' | sort >"$work/seeds"
xargs -a "$work/seeds" -d '\n' .build/bombs/release/mutate "$count" "${SEED:-1}" "$work/in"

one() { # file
  ulimit -v $((MEMORY * 1024)) -t 5
  local name=${1##*/}
  local sizes=(300x300 64x48 1000x) modes=(fit fill exact) n=${name%%.*} status=0 said
  said=$(timeout -s KILL 60 "$VITRINE" thumbnail "$1" --size "${sizes[n % 3]}" --mode "${modes[n / 3 % 3]}" \
    -o "$2/out/$name.png" 2>&1 >/dev/null) || status=$?
  case $status in
    0) said=decoded ;;
    1)
      said=${said#vitrine: *: }
      case $said in
        *limit*) said="refused: over a limit" ;;
        truncated*) said="refused: truncated" ;;
        corrupt* | "the header says"* | "a bitmap of"*) said="refused: corrupt" ;;
        "not an image"*) said="refused: not recognised" ;;
        *nsupported* | *"cannot be decoded"*) said="refused: unsupported" ;;
        *) said="refused: $(cut -c 1-60 <<<"${said%%$'\n'*}" | tr '0-9' '#')" ;;
      esac
      ;;
    137 | 152) said="HANGS" ;;
    *) said="CRASHES with status $status" ;;
  esac
  case $said in
    HANGS | CRASHES*) cp "$1" "$2/failed/" ;;
  esac
  rm -f "$2/out/$name.png"
  echo "${1##*.}: $said"
}
export -f one
# Printing a crash report takes longer than everything else.
export SWIFT_BACKTRACE=enable=no
xargs -a <(find "$work/in" -type f) -P "$(nproc)" -I '{}' nice bash -c 'one "$1" "$2"' one '{}' "$work" >"$work/results" 2>/dev/null
echo "$(wc -l <"$work/results") files, made from $(wc -l <"$work/seeds") originals"
sed 's/^[^:]*: //' "$work/results" | sort | uniq -c | sort -rn
echo "decoded, by format:"
awk -F ': ' '{ all[$1]++; if ($2 == "decoded") good[$1]++ } END { for (f in all) printf "  %-5s %5d of %5d\n", f, good[f], all[f] }' \
  "$work/results" | sort
if [ -n "$(ls "$work/failed")" ]; then
  echo "torture: crashed or hung: $(ls "$work/failed" | tr '\n' ' ') in $work/failed" >&2
  exit 1
fi
