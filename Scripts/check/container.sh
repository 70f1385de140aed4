#!/usr/bin/env bash
# The container's root, started as its user would, and attacked. Needs root.
# Makes the root of the Containerfile's second stage with debootstrap, without a container engine, and starts vitrine-server
# there: read-only, as an unprivileged user, without capabilities and without a shell. Asks for a picture of each kind,
# for its health, and ends it: /ready must say 503 for the delay, and the exit status be 0. Then ATTACKS (all) of
# `make check NAME=hostile-clients` run against it. BUILT is a folder of programs of an earlier build;
# VITRINE_ROOTS_FOLDER (/var/tmp/vitrine-roots) is where the root is kept.
source "$(dirname "$0")/../lib/common.sh"
if [ "${VITRINE_ROOTS:-}" != mounted ]; then
  [ "$(id -u)" -eq 0 ] || { echo "container: run as root, for chroot and mounts" >&2; exit 1; }
  setup
  setup check/hostile-clients
  [ -n "${BUILT:-}" ] || release vitrine-server vitrine-codecs
  VITRINE_ROOTS=mounted exec unshare --mount --propagation private "Scripts/$script.sh"
fi
unset VITRINE_ROOTS
containerfile() { python Scripts/lib/containerfile.py Containerfile "$@"; }
folder=${VITRINE_ROOTS_FOLDER:-/var/tmp/vitrine-roots}
root=$folder/container
key=$(containerfile key)
if [ "$(cat "$root.done" 2>/dev/null)" != "$key" ]; then
  suite=$(containerfile show FROM | sed -nE 's,.*/debian:([a-z]+)-slim$,\1,p')
  echo "container: making the root of $suite in $root"
  rm -rf "$root" "$root.done"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" >"$root.log"
  mount -t proc proc "$root/proc"
  containerfile prepare "$root" >>"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
  umount "$root/proc"
  echo "$key" >"$root.done"
fi

work=$(mktemp -d "$PWD/.build/container.XXXXXX")
server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
DESTDIR=$work/image PREFIX=/usr PRODUCTS="vitrine-server vitrine-codecs" BUILT=${BUILT:-.build/release} Scripts/install.sh install >/dev/null
containerfile add "$root" "$work/image"
export CONTAINER_ROOT=$root CONTAINER_USER CONTAINER_ENV
CONTAINER_USER=$(containerfile show USER)
CONTAINER_ENV=$(containerfile show ENV)
mapfile -t entry < <(containerfile show ENTRYPOINT)
mapfile -t health < <(containerfile show HEALTHCHECK)
inside() { Scripts/lib/in-container.sh "$@"; }
echo "container: $(du -sm "$root" | cut -f 1) MB, of which programs $(du -cm "$root"/usr/bin/vitrine-* | tail -n 1 | cut -f 1); $(chroot "$root" dpkg-query --list | grep -c '^ii') packages"

failed=0
check() { # sentence, command...
  local sentence=$1
  shift
  if "$@"; then echo "  $sentence"; else echo "  WRONG: $sentence"; failed=1; fi
}

# Names of settings in the files for engines are settings.
inside "${entry[@]}" --print-config | sed -nE 's/^(VITRINE_[A-Z0-9_]+)=.*/\1/p' | sort >"$work/settings"
grep -ohE 'VITRINE_[A-Z0-9_]+' Containerfile Examples/Containers/* | sort -u >"$work/named"
unknown=$(comm -23 "$work/named" "$work/settings" | xargs)
check "settings in Containerfile and Examples/Containers are known${unknown:+, but not $unknown}" [ -z "$unknown" ]

mkdir "$work/images"
cp Examples/Photographs/*.* "$work/images/"
chmod 755 "$work" "$work/images"
port=$(python -c 'import services; print(services.free_port())')
export VITRINE_BIND=127.0.0.1 VITRINE_PORT=$port VITRINE_LOCAL_ROOT=$work/images
VITRINE_CACHE_DIR=$work/cache VITRINE_DRAIN_DELAY=2s VITRINE_LOG=off \
  unshare --pid --fork --kill-child Scripts/lib/in-container.sh "${entry[@]}" 2>"$work/log" &
outer=$!
await_server "$work/log" "$outer"
server=$(pgrep -P "$outer")
status() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$server/status"; }
url=http://127.0.0.1:$port
check "it runs as user $(status Uid), capabilities $(status CapEff), as process $(awk '$1 == "NSpid:" { print $NF }' "/proc/$server/status")" \
  [ "$(status Uid) $(status CapEff) $(status NoNewPrivs)" = "${CONTAINER_USER%:*} 0000000000000000 1" ]
check "its root is read-only" grep -qE '^[^ ]+ / [^ ]+ ro[, ]' "/proc/$server/mounts"
# shellcheck disable=SC2016
check "no shell can run there" eval '! inside /bin/sh -c : 2>/dev/null'
said=$(inside "${health[@]}" 2>&1 || true)
check "its health command says: $said" [ "$said" = ok ]
for request in autumn-avenue-nikon.jpg@jpg:JPEG harbour-pier-lossless.webp@webp:WEBP hibiscus-window-alpha.png@png:PNG \
  houses-animated.webp@gif:GIF lighthouse-progressive.jpg@avif:AVIF; do
  curl -sS -o "$work/picture" "$url/_/rs:fit:64:64/plain/local:///${request%:*}"
  # The magic number says what it is; Pillow reads no AVIF here.
  found=$(python - "$work/picture" <<'P'
import sys
with open(sys.argv[1], "rb") as file:
    head = file.read(16)
kinds = [(0, b"\xff\xd8\xff", "JPEG"), (8, b"WEBP", "WEBP"), (0, b"\x89PNG", "PNG"), (0, b"GIF8", "GIF"), (4, b"ftypavi", "AVIF")]
print(next((name for place, magic, name in kinds if head[place:].startswith(magic)), head))
P
  )
  check "a picture: ${request%:*} is $found" [ "$found" = "${request##*:}" ]
done
# shellcheck disable=SC2016
check "pictures are kept in the volume" eval '[ -n "$(find "$work/cache" -type f -print -quit)" ]'
check "/ready is 200 before SIGTERM" [ "$(curl -s -o "$work/answer" -w '%{http_code}' "$url/ready")" = 200 ]
kill -TERM "$server"
until grep -q draining "$work/log"; do sleep 0.05; done
# shellcheck disable=SC2016
check "/ready is 503 in the delay after it" eval '
  [ "$(curl -s -o "$work/answer" -w "%{http_code}" "$url/ready")" = 503 ] && [ "$(cat "$work/answer")" = draining ]'
check "pictures are still answered then" curl -sSf -o "$work/picture" "$url/_/w:32/plain/local:///macaws-444.jpg@jpg"
ended=0
wait "$outer" || ended=$?
server=
check "the exit status is $ended" [ "$ended" = 0 ]
# shellcheck disable=SC2016
check "the socket is closed" eval '! curl -s -o "$work/answer" "$url/health"'
said=$(inside "${health[@]}" 2>&1) && ended=0 || ended=$?
check "its health command fails with status $ended: ${said:0:80}" [ "$ended" = 1 ]

echo "container: attacked"
unset VITRINE_PORT VITRINE_LOCAL_ROOT
printf '#!/bin/sh\nexec %q/Scripts/lib/in-container.sh %s\n' "$PWD" "${entry[*]}" >"$work/start"
chmod 755 "$work/start"
SERVER=$work/start Scripts/check/hostile-clients.sh || failed=1
exit $failed
