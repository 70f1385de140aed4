#!/usr/bin/env bash
# All tests but those of widgets, under the thread and the address sanitizer.
# Then those of decoders and of the sandbox in release, under the address sanitizer. SANITIZERS (thread address release)
# narrows it.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
setup test
for sanitizer in ${SANITIZERS:-thread address release}; do
  case $sanitizer in
    release) sanitized_release --filter '^(ImagingTests|CodecTests|SandboxTests|FuzzTests)\.' ;;
    *) sanitized "$sanitizer" ;;
  esac
done
