#!/usr/bin/env bash
# Sends hostile URLs to vitrine-server, once without keys and once with: `attack-server.sh PROGRAM FOLDER [MUTANTS]`.
set -euo pipefail
program=$1
folder=$(cd "$2" && pwd)
mutants=${3:-2000}
here=$(dirname "$0")
name=$(cd "$folder" && printf '%s\n' *.jpg | head -n 1)
log=$(mktemp)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -f "$log"' EXIT
export VITRINE_LOCAL_ROOT=$folder VITRINE_PORT=0 VITRINE_LOG=off
[ "$(id -u)" != 0 ] || export VITRINE_ALLOW_ROOT=on
unset VITRINE_CORPUS VITRINE_TRACES

run() { # arguments of the attack
  "$program" 2>"$log" &
  server=$!
  for _ in $(seq 100); do
    grep -q 'listening on' "$log" && break
    kill -0 "$server" 2>/dev/null || { cat "$log" >&2; exit 1; }
    sleep 0.1
  done
  local url
  url=$(sed -n 's/.*listening on //p' "$log")
  local failed=0
  "$here/hostile-urls.py" "$url" --local "$name" --mutants "$mutants" "$@" || failed=1
  kill -0 "$server" 2>/dev/null || { echo "the server has died" >&2; cat "$log" >&2; failed=1; }
  kill "$server" 2>/dev/null || true
  wait "$server" || true
  server=
  return $failed
}

echo "Without keys:"
failed=0
run || failed=1
echo
echo "With keys:"
VITRINE_KEY=736563726574 VITRINE_SALT=68656c6c6f run --signed || failed=1
exit $failed
