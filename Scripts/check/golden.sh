#!/usr/bin/env bash
# What pictures look like in a window, against golden hashes.
# At scales 1 and 2. Writes each as PNG to .build/golden. Where the pictures differ from those of before, and should,
# the new hashes replace the old in Tests/GTKTests/Golden.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
setup
build_tests
rm -rf .build/golden
failed=0
for scale in 1 2; do
  GDK_SCALE=$scale VITRINE_GOLDEN_OUTPUT=.build/golden xctests GTKTests.GoldenTests || failed=1
done
ls .build/golden
exit $failed
