#!/usr/bin/env bash
# Runs tests, and stops them where one hangs: `limited.sh SECONDS COMMAND ARGUMENT...`. Names those that had not ended.
set -uo pipefail
limit=$1
shift
command -v timeout > /dev/null || exec "$@"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
timeout --kill-after=10 "$limit" "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" = 124 ] || [ "$status" = 137 ]; then
  echo "error: the tests had not ended after $limit seconds and were stopped; these had begun:"
  # Swift Testing: "Test name() started." and "Test name() passed after …"; XCTest: "Test Case 'name' started at …".
  sed -nE "/^[^ ]+ Test case /d
    s/^(. |[^ ]+ )?Test (Case )?(.+) started( at .*|\.)$/begun \3/p
    s/^(. |[^ ]+ )?Test (Case )?([^ ]+) (with .*)?(passed|failed|skipped)( after|:| \().*/ended \3/p" "$log" |
    awk '{ name = $0; sub(/^[^ ]+ /, "", name); open[name] += $1 == "begun" ? 1 : -1 }
      END { for (name in open) if (open[name] > 0) print "  " name }' | sort
fi
exit "$status"
