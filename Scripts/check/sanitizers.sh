#!/usr/bin/env bash
# All tests but those of widgets, under the thread and the address sanitizer.
# First the one, then the other. SANITIZERS (thread address) narrows it.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
setup test
for sanitizer in ${SANITIZERS:-thread address}; do sanitized "$sanitizer"; done
