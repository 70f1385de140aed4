# Files that mean harm, for programs that must not be harmed by them.
# shellcheck shell=bash
source Scripts/lib/formats.sh

# Where the project's images lie, and with them those of VITRINE_CORPUS, if there is one.
own_images=(Examples/Photographs Tests/ImagingTests/Fixtures Tests/CodecTests/Fixtures)
all_images=("${own_images[@]}" ${VITRINE_CORPUS:+"$VITRINE_CORPUS"})

# `damaged COUNT FOLDER`: makes damaged files of all small images. SEED (1) selects other damage.
damaged() {
  local originals
  originals=$(mktemp)
  hostile_tools mutate
  mkdir -p "$2"
  find "${all_images[@]}" -type f -size -200k \
    -regextype posix-extended -iregex ".*\.($(formats extensions reader: | paste -sd '|'))" | sort >"$originals"
  xargs -a "$originals" -d '\n' .build/hostile/release/mutate "$1" "${SEED:-1}" "$2"
  echo "$1 damaged files, made from $(wc -l <"$originals") originals"
  rm "$originals"
}

# `demanding FOLDER`: makes files that ask for gigabytes or for ever. Prints the name, the limit and the bytes of each.
demanding() {
  hostile_tools hostile-images
  .build/hostile/release/hostile-images "$1"
}
