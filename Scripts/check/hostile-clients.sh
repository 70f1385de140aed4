#!/usr/bin/env bash
# vitrine-server against hostile clients, URLs and files.
# On 127.0.0.1 alone: hostile URLs without keys and with, forged signatures, COUNT (10,000) damaged files and all that
# ask for gigabytes or for ever, drawings with scripts, poisoned caches, 200 clients of one image, kill -9, slow clients
# and IDLE (10,000) that do nothing, slow sources, too much work, and URLS (1,000,000) different URLs. Fails if
# something gets through, an honest client is not served, or the server ends or grows. ATTACKS narrows it: urls
# signatures files drawings poison crowd killed heads halves slow idle sources overload flood readers canvases encoders
# holders trickles network everything. SEED (1) selects other damage; SERVER is another program.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/hostile.sh
setup
[ -n "${SERVER:-}" ] || release vitrine-server vitrine-codecs
program=${SERVER:-$PWD/.build/release/vitrine-server}
mkdir -p .build
# Its own, so that two runs do not serve each other's half-copied files.
work=$(mktemp -d "$PWD/.build/hostile-clients.XXXXXX")
attacks=" ${ATTACKS:-urls signatures files drawings poison crowd killed heads halves slow idle sources overload flood readers canvases encoders holders trickles network everything} "
mkdir -p "$work/root/hostile"
local=autumn-avenue-nikon.jpg
cp Examples/Photographs/*.jpg "$work/root/"
server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
[ "$(id -u)" != 0 ] || export VITRINE_ALLOW_ROOT=on
unset VITRINE_TRACES
failed=0

wanted() { [[ $attacks == *" $1 "* ]]; }

start() { # settings
  # The log too: the port of the server before is in it.
  rm -f "$work/log"
  env -u VITRINE_CORPUS VITRINE_LOCAL_ROOT="$work/root" VITRINE_CACHE_DIR="$work/cache" VITRINE_CACHE_BYTES=256M VITRINE_PORT=0 \
    VITRINE_LOG=on VITRINE_MEMORY=1G VITRINE_TRUST_FORWARDED_FOR=on SWIFT_BACKTRACE=enable=no "$@" "$program" >"$work/log" 2>&1 &
  server=$!
  await_server "$work/log" "$server"
  url=$(sed -n 's/.*listening on //p' "$work/log")
}

stop() {
  kill -0 "$server" 2>/dev/null || { echo "  WRONG: the server has died"; cat "$work/log"; failed=1; }
  kill "$server" 2>/dev/null || true
  wait "$server" || { echo "  WRONG: the server ended with status $?"; tail -n 5 "$work/log"; failed=1; }
  server=
  # The honest client's address. Why it was refused is in the log alone.
  grep -E '"client":"192\.0\.2\.7".*"status":(4|50[^3])' "$work/log" | head -n 5 || true
  rm -rf "$work/cache"
}

# Starts the server with settings, attacks it, and ends it.
against() { # settings... -- command
  local settings=()
  while [ "$1" != -- ]; do settings+=("$1"); shift; done
  shift
  start "${settings[@]}"
  "$@" || failed=1
  stop
}

attack() { # program, attack, arguments
  python "Scripts/check/$1.py" "$2" "$url" --pid "$server" --local $local --root "$work/root" "${@:3}"
}
files() { attack server-files "$@"; }
clients() { attack server-clients "$@"; }
urls() { python Scripts/check/server-urls.py "$url" --local $local --mutants 2000 "$@"; }

key=736563726574 salt=68656c6c6f
if wanted urls; then
  echo "urls: without keys"
  against -- urls
  echo "urls: with keys"
  against VITRINE_KEY=$key VITRINE_SALT=$salt -- urls --signed
fi
if wanted signatures; then against VITRINE_KEY=$key VITRINE_SALT=$salt -- files signatures --key $key --salt $salt; fi
if wanted files; then
  damaged "${COUNT:-10000}" "$work/root/hostile/damaged"
  demanding "$work/root/hostile/demanding" >/dev/null
  against VITRINE_DECODE_TIMEOUT=3s -- files files
fi
if wanted drawings; then against -- files drawings; fi
if wanted poison; then against -- files poison; fi
if wanted heads; then against -- clients heads; fi
if wanted halves; then against VITRINE_HEAD_TIMEOUT=2s -- clients halves; fi
if wanted slow; then against VITRINE_HEAD_TIMEOUT=2s VITRINE_SEND_TIMEOUT=2s -- clients slow; fi
if wanted idle; then against -- clients idle --count "${IDLE:-10000}"; fi
# Loopback is allowed as a source here, where the slow server is.
nearby=(VITRINE_ALLOWED_NETWORKS=127.0.0.0/8 VITRINE_ALLOWED_PORTS=)
if wanted crowd; then against "${nearby[@]}" -- clients crowd; fi
if wanted killed; then
  start "${nearby[@]}"
  clients keep --state "$work/state" || failed=1
  kill -9 "$server"
  wait "$server" 2>/dev/null || true
  start "${nearby[@]}"
  clients find --state "$work/state" || failed=1
  stop
fi
if wanted sources; then against "${nearby[@]}" VITRINE_REQUEST_TIMEOUT=5s -- clients sources; fi
if wanted overload; then
  against "${nearby[@]}" VITRINE_MAX_IMAGES=24 VITRINE_REQUEST_TIMEOUT=10s -- clients overload --count 24
fi
for name in readers canvases encoders holders trickles network everything; do
  # Requests for slow sources are given up, so that the attack ends.
  if wanted $name; then
    against "${nearby[@]}" VITRINE_MEMORY=256M VITRINE_REQUEST_TIMEOUT=20s -- attack server-exhaustion $name --memory 256
  fi
done
if wanted flood; then against VITRINE_LOG=off -- clients flood --count "${URLS:-1000000}"; fi
[ $failed = 0 ] && echo "hostile-clients: nothing got through" || echo "hostile-clients: see WRONG above" >&2
exit $failed
