#!/usr/bin/env bash
# Builds all tests and runs them: those of widgets on a virtual display, beside the others. `test.sh build` only builds them.
source "$(dirname "$0")/lib/common.sh"
source Scripts/lib/tests.sh
setup test
build_tests
[ "${1:-}" != build ] || exit 0
limited=(Scripts/lib/limited.sh 1500)
[ "$(uname)" = Linux ] || { swift_tests; exit; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# In a group of its own, which Ctrl-C ends: what is in the background does not hear of it otherwise.
set -m
(check_snippets && xctests && GDK_SCALE=2 xctests GTKTests.GoldenTests) >"$log" 2>&1 &
widgets=$!
set +m
trap 'kill -- "-$widgets" 2>/dev/null; exit 130' INT TERM
status=0
swift_tests || status=$?
wait "$widgets" || { status=1; cat "$log"; }
grep -E 'Executed [0-9]+ tests?|error:' "$log" || true
exit "$status"
