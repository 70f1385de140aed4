#!/usr/bin/env bash
# Runs tests, and stops them where one hangs: `limited.sh SECONDS COMMAND ARGUMENT...`. Names those that had not ended.
set -uo pipefail
limit=$1
shift
command -v timeout > /dev/null || exec "$@"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
exec 3> >(tee "$log")
tee=$!
# A group of its own, of which `timeout` is the leader: Ctrl-C reaches this script alone, which passes it on.
timeout --kill-after=10 "$limit" "$@" >&3 2>&1 3>&- &
child=$!
exec 3>&-
trap 'kill "$child" 2> /dev/null' INT TERM
status=0
wait "$child" || status=$?
# Interrupted by the signal, not by the end.
while kill -0 "$child" 2> /dev/null; do wait "$child" || status=$?; done
if [ "$status" = 124 ] || [ "$status" = 137 ]; then
  echo "error: the tests had not ended after $limit seconds and were stopped; these had begun, as far as they have told:"
  # Swift Testing: "Test name() started." and "Test name() passed after …"; XCTest: "Test Case 'name' started at …".
  sed -nE "/^[^ ]+ Test case /d
    s/^(. |[^ ]+ )?Test (Case )?(.+) started( at .*|\.)$/begun \3/p
    s/^(. |[^ ]+ )?Test (Case )?([^ ]+) (with .*)?(passed|failed|skipped)( after|:| \().*/ended \3/p" "$log" |
    awk '{ name = $0; sub(/^[^ ]+ /, "", name); open[name] += $1 == "begun" ? 1 : -1 }
      END { for (name in open) if (open[name] > 0) print "error:   " name }' | sort
elif [ "$status" -lt 128 ]; then
  wait "$tee"
fi
exit "$status"
