# The table of formats, for scripts, read from its Swift.
# shellcheck shell=bash

# `formats COLUMN [PATTERN]`: prints the title of each row of Sources/Imaging/Codecs/ImageFormat+Table.swift, a line each, or its
# extensions, types or codec, which may be on several lines. Only rows that match a regular expression count, such as `reader:` for formats that are read,
# `writer:`, `codec:` and `name: "heic"`.
formats() {
  awk -v column="$1" -v pattern="${2:-name:}" '
    function finish() {
      if (row ~ pattern && match(row, column ": ?(\\[[^]]*\\]|[^\n]*)")) {
        text = substr(row, RSTART + length(column) + 1, RLENGTH - length(column) - 1)
        while (match(text, /"[^"]*"/)) {
          print substr(text, RSTART + 1, RLENGTH - 2)
          text = substr(text, RSTART + RLENGTH)
        }
      }
      row = ""
    }
    /^    Row\($/ { row = "\n"; next }
    /^    \)$/ { finish() }
    row { sub(/^ +/, ""); row = row $0 "\n" }
  ' Sources/Imaging/Codecs/ImageFormat+Table.swift
}

# `listed WORD`: turns lines into a part of a sentence, such as "a, b and c".
listed() { paste -sd , | sed -E "s/,([^,]*)$/ $1 \1/; s/,/, /g"; }

# The version of Vitrine, which stands in Swift.
version() { sed -nE 's/.*vitrineVersion = "(.*)"/\1/p' Sources/Runtime/Version.swift; }

# `filled FILE FOLDER`: prints a file of Desktop for programs in a folder.
filled() {
  sed -e "s|@bindir@|$2|g" -e "s|@types@|$(formats types reader: | paste -sd ';');|" \
    -e "s|@version@|$(version)|" -e "s|@formats@|$(formats title reader: | listed and)|" -e "s|@formate@|$(formats title reader: | listed und)|" "$1"
}

# The sentence of README.md, a line of its own, which `make format` writes.
formats_sentence() {
  printf 'It reads %s, and writes %s. ' "$(formats title reader: | listed and)" "$(formats title writer: | listed and)"
  printf '%s are external formats:' "$(formats title codec: | listed and)"
}
