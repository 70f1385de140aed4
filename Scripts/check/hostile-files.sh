#!/usr/bin/env bash
# The tool, and a program that serves thumbnails, on hostile files.
# PARTS narrows it. `damaged`: the tool reads COUNT (10,000) damaged images, each in a process with MEMORY (1,024) MB of
# address space and 5 s of CPU time; one that crashes or hangs is kept in .build/hostile-files/failed. `demanding`:
# files that ask for gigabytes or for ever, each refused by the limit that it exceeds, within 10 s and 400 MB, of the
# codec processes too; one that is refused for its header may take 100 ms of CPU time and 64 MB. `service`: a program
# serves thumbnails of such files for SECONDS (60), and its honest users must not wait. `gallery`: the gallery
# opens a folder of them with 20 photographs among them, each of which must be drawn within 15 s, and pages through all of it.
# SEED (1) selects other damage; VITRINE is the tool, if it is not ours.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/hostile.sh
setup
work=$PWD/.build/hostile-files
rm -rf "$work"
mkdir -p "$work/bin" "$work/out" "$work/failed"

copy_tool() {
  [ -n "${VITRINE:-}" ] || release vitrine vitrine-codecs
  local program=${VITRINE:-.build/release/vitrine}
  # Copies, so that a concurrent build does not replace them.
  cp "$program" "$work/bin/vitrine"
  if [ -x "$(dirname "$program")/vitrine-codecs" ]; then cp "$(dirname "$program")/vitrine-codecs" "$work/bin/"; fi
}

one_damaged() { # file, folder of work
  ulimit -v $((MEMORY * 1024)) -t 5
  local name=${1##*/}
  local sizes=(300x300 64x48 1000x) modes=(fit fill exact) n=${name%%.*} status=0 said
  said=$(timeout -s KILL 60 "$2/bin/vitrine" thumbnail "$1" --size "${sizes[n % 3]}" --mode "${modes[n / 3 % 3]}" \
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

damaged_files() {
  copy_tool
  damaged "${COUNT:-10000}" "$work/damaged"
  export -f one_damaged
  # Printing a crash report takes longer than everything else.
  SWIFT_BACKTRACE=enable=no MEMORY=${MEMORY:-1024} xargs -a <(find "$work/damaged" -type f) -P "$(nproc)" -I '{}' \
    nice bash -c 'one_damaged "$1" "$2"' one '{}' "$work" >"$work/results" 2>/dev/null
  sed 's/^[^:]*: //' "$work/results" | sort | uniq -c | sort -rn
  echo "decoded, by format:"
  awk -F ': ' '{ all[$1]++; if ($2 == "decoded") good[$1]++ } END { for (f in all) printf "  %-5s %5d of %5d\n", f, good[f], all[f] }' \
    "$work/results" | sort
  [ -z "$(ls "$work/failed")" ] || fail "crashed or hung: $(ls "$work/failed" | tr '\n' ' ') in $work/failed"
}

demanding_files() {
  copy_tool
  clang -O1 -o "$work/bin/measure" Benchmarks/Sources/measure/main.c
  demanding "$work/demanding" >"$work/list"
  local bad=0 count=0 name limit bytes milliseconds elapsed megabytes status said verdict
  printf '%-40s %9s %7s %7s %7s  %s\n' file bytes "CPU ms" MB ms "message"
  while read -r name limit bytes; do
    "$work/bin/measure" -o "$work/time" timeout -s KILL 30 "$work/bin/vitrine" thumbnail "$work/demanding/$name" --size 300x300 \
      --time-limit 5 -o "$work/out/" 2>"$work/said" >/dev/null
    read -r milliseconds elapsed megabytes status <"$work/time"
    ((milliseconds /= 1000, elapsed /= 1000, megabytes /= 1024)) || true
    said=$(sed -E "s|^vitrine: [^:]*: ||" "$work/said" | head -n 1)
    verdict=""
    if [ "$limit" != - ] && [ "$limit" != any ]; then
      [ "$status" -eq 1 ] && [[ $said == *limit* ]] || verdict="NOT REFUSED BY ITS LIMIT ($limit) "
      [ "$milliseconds" -lt 100 ] || verdict+="TOO SLOW "
      [ "$megabytes" -lt 64 ] || verdict+="TOO LARGE "
    fi
    [ "$status" -le 1 ] || verdict+="ENDED WITH $status "
    [ "$elapsed" -lt 10000 ] || verdict+="TOO SLOW "
    [ "$megabytes" -lt 400 ] || verdict+="TOO LARGE "
    [ -z "$verdict" ] || bad=$((bad + 1))
    count=$((count + 1))
    printf '%-40s %9s %7s %7s %7s  %s%s\n' "$name" "$bytes" "$milliseconds" "$megabytes" "$elapsed" "$verdict" "${said:-decoded}"
  done <"$work/list"
  [ "$bad" -eq 0 ] || fail "$bad of $count demanding files were too expensive, or not refused by their limit"
}

hostile_service() {
  benchmarks honest-users
  demanding "$work/served" >/dev/null
  .build/benchmarks/release/honest-users "$work/served" || fail "honest users waited, or something is left over"
}

hostile_gallery() {
  release vitrine-gallery vitrine-codecs
  mkdir -p "$work/gallery/home"
  damaged "${COUNT:-10000}" "$work/gallery/photos"
  demanding "$work/gallery/demanding" >/dev/null
  python Scripts/check/hostile-gallery.py .build/release/vitrine-gallery "$photographs" "$work/gallery" ||
    fail "the gallery is not as it should be; its screenshots are in $work/gallery"
}

failed=0
fail() {
  echo "hostile-files: $*" >&2
  failed=1
}
for part in ${PARTS:-damaged demanding service gallery}; do
  case $part in
    damaged) damaged_files ;;
    demanding) demanding_files ;;
    service) hostile_service ;;
    gallery) hostile_gallery ;;
  esac
done
exit $failed
