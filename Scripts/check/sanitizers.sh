#!/usr/bin/env bash
# All tests but those of widgets, under the thread and the address sanitizer.
# Then those of decoders and of the sandbox's messages as in a release, under the address sanitizer: its memory does not fit
# into a worker. SANITIZERS (thread address release) narrows it.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
setup test
for sanitizer in ${SANITIZERS:-thread address release}; do
  case $sanitizer in
    release) sanitized_release --filter '^(ImagingTests|CodecTests|FuzzTests)\.|WireTests' ;;
    *) sanitized "$sanitizer" ;;
  esac
done
