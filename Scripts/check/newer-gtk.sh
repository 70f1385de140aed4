#!/usr/bin/env bash
# Tests of widgets with the GTK of a newer Debian, which has colour states. Needs root.
# The tests run as they were built here, in a Debian made with debootstrap. Root is for chroot and mounts, which end with the
# script. SUITE (trixie) is the release, TESTS (all but the pictures, whose theme is another) narrows the tests;
# VITRINE_ROOTS_FOLDER (/var/tmp/vitrine-roots) is where the system is.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/tests.sh
if [ "${VITRINE_ROOTS:-}" != mounted ]; then
  [ "$(id -u)" -eq 0 ] || { echo "newer-gtk: run as root, for chroot and mounts" >&2; exit 1; }
  setup
  build_tests
  VITRINE_ROOTS=mounted exec unshare --mount --propagation private "Scripts/$script.sh"
fi

suite=${SUITE:-trixie}
root=${VITRINE_ROOTS_FOLDER:-/var/tmp/vitrine-roots}/$suite
if [ ! -e "$root.done" ]; then
  echo "newer-gtk: installing a minimal $suite in $root"
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" >"$root.log"
  DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends libgtk-4-1 xvfb xauth \
    fonts-dejavu-core tzdata >"$root.log"
  touch "$root.done"
fi
toolchain=$(cd "$(dirname "$(readlink -f "$(command -v swift)")")/.." && pwd)
for place in "$PWD" "$toolchain"; do
  mkdir -p "$root$place"
  mount --bind -o ro "$place" "$root$place"
done
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
inside() {
  chroot "$root" env -i HOME=/tmp PATH="$toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin" LD_LIBRARY_PATH=/tmp/libraries "$@"
}
# Libraries that the release has not, or under another number, come from here.
mkdir "$root/tmp/libraries"
while missing=$(inside ldd "$PWD/$folder/debug/VitrinePackageTests.xctest" | awk '/not found/ && !count++ { print $1 }')
  [ -n "$missing" ]; do
  cp "$(ldconfig -p | awk -v name="$missing" '$1 == name { print $NF; exit }')" "$root/tmp/libraries/"
done
tests=${TESTS:-$(grep -rhoE --include='*.swift' '^final class \w+: WidgetTestCase' Tests/GTKTests |
  awk '!/Golden/ { sub(":", "", $3); print "GTKTests." $3 }' | sort | paste -sd ,)}
inside dpkg-query --show --showformat 'newer-gtk: GTK ${Version}\n' libgtk-4-1
# shellcheck disable=SC2016
inside bash -c 'cd "$1" && source Scripts/lib/tests.sh && xctests "$2"' - "$PWD" "$tests"
