#!/usr/bin/env bash
# `in-container.sh COMMAND...` runs a command of the image as an engine would: in its root, which is read-only and has no shell,
# as its user, without capabilities. It replaces itself by the command, whose process id is its own. With a namespace of
# processes (`unshare --pid --fork in-container.sh …`), the command is the first process.
# CONTAINER_ROOT is the root, CONTAINER_USER the user, CONTAINER_ENV has NAME=value in lines. VITRINE_ variables are passed on.
# VITRINE_LOCAL_ROOT and VITRINE_CACHE_DIR are mounted as volumes, and are /srv/images and the image's cache there. Needs root.
set -euo pipefail
if [ "${CONTAINER_MOUNTED:-}" != yes ]; then
  CONTAINER_MOUNTED=yes exec unshare --mount --uts --ipc --propagation private "$0" "$@"
fi
root=$CONTAINER_ROOT
cache=$(sed -n 's/^VITRINE_CACHE_DIR=//p' <<<"$CONTAINER_ENV")
# What is made here lies over the root, which stays as it is, and vanishes with the last process.
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o "lowerdir=$root,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
root=/mnt/root
mkdir -p "$root/srv/images"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,ro "$root/dev"
for shell in sh dash bash; do mount --bind /dev/null "$root/bin/$shell"; done
[ -z "${VITRINE_LOCAL_ROOT:-}" ] || mount --bind -o ro "$VITRINE_LOCAL_ROOT" "$root/srv/images"
if [ -n "${VITRINE_CACHE_DIR:-}" ]; then
  install -d -o "${CONTAINER_USER%:*}" -g "${CONTAINER_USER#*:}" "$VITRINE_CACHE_DIR"
  mount --bind "$VITRINE_CACHE_DIR" "$root$cache"
else
  mount -t tmpfs -o "uid=${CONTAINER_USER%:*},gid=${CONTAINER_USER#*:},mode=700" tmpfs "$root$cache"
fi
mount -o remount,ro "$root"
variables=()
while IFS= read -r line; do [ -z "$line" ] || variables+=("$line"); done <<<"$CONTAINER_ENV"
while IFS= read -r line; do variables+=("$line"); done < <(env | grep '^VITRINE_' |
  grep -vE '^VITRINE_(ROOTS_FOLDER|CONFIG|APPLE|CORPUS|TRACES|ALLOW_ROOT|CACHE_DIR|LOCAL_ROOT)=' || true)
[ -z "${VITRINE_LOCAL_ROOT:-}" ] || variables+=(VITRINE_LOCAL_ROOT=/srv/images)
# None of these forks.
exec chroot "$root" /usr/bin/setpriv --reuid "${CONTAINER_USER%:*}" --regid "${CONTAINER_USER#*:}" --clear-groups \
  --bounding-set=-all --inh-caps=-all --no-new-privs /usr/bin/env -i PATH=/usr/bin "${variables[@]}" "$@"
