#!/usr/bin/env bash
# Builds all tests and runs them, those of widgets on a virtual display.
source "$(dirname "$0")/lib/common.sh"
source Scripts/lib/tests.sh
setup test
build_tests
limited=(Scripts/lib/limited.sh 1500)
if [ "$(uname)" = Linux ]; then
  xctests
  GDK_SCALE=2 xctests --filter GoldenTests
fi
# shellcheck disable=SC2046
swift_tests $(width)
