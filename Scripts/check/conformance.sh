#!/usr/bin/env bash
# Images, frames and written files, against other programs.
# Fails where they differ without an explanation. PARTS narrows it: `images` by format, all `frames` of animations with
# their delays, and what others read, pixels and metadata, in the files that Vitrine writes (`encoding`).
# VITRINE_CONFORMANCE is a part of the names of files; SHEET (contact-sheet.png) shows what differs. VITRINE_CORPUS has
# more files.
source "$(dirname "$0")/../lib/common.sh"
setup
for part in ${PARTS:-images frames encoding}; do
  case $part in
    images)
      release vitrine vitrine-codecs
      benchmarks measure conformance
      record conformance .build/benchmarks/release/conformance
      ;;
    frames)
      benchmarks conformance
      record conformance-frames .build/benchmarks/release/conformance frames
      ;;
    encoding)
      release vitrine vitrine-codecs
      record conformance-encoding python Scripts/check/conformance-encoding.py .build/release/vitrine
      ;;
  esac
done
