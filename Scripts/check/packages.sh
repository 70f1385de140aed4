#!/usr/bin/env bash
# Debian packages: made, judged by lintian, installed, used and removed. Needs root.
# In a clean system of each of SUITES (the release of this machine, and trixie), made with debootstrap. The packages of another
# release are built in it, with this machine's Swift, against its libraries. What is installed is used as its user would: the
# tool on each format, the server as its own user, the gallery on a virtual display, the sources in a program (DEPENDENT, the
# product that it uses, VitrineCaching), the archive of `make tarball`. Then all is purged, and nothing may be left.
# VITRINE_ROOTS_FOLDER (/var/tmp/vitrine-roots) is where the systems are; packages are left in .build/packages.
source "$(dirname "$0")/../lib/common.sh"
# shellcheck disable=SC1091
own=$(. /etc/os-release && echo "$VERSION_CODENAME")
suites=${SUITES:-$own trixie}
if [ "${VITRINE_ROOTS:-}" != mounted ]; then
  [ "$(id -u)" -eq 0 ] || { echo "packages: run as root, for chroot and mounts" >&2; exit 1; }
  setup
  [[ " $suites " != *" $own "* ]] || release vitrine vitrine-codecs vitrine-gallery vitrine-server
  VITRINE_ROOTS=mounted exec unshare --mount --propagation private "Scripts/$script.sh"
fi
unset VITRINE_ROOTS
vitrine=$PWD
toolchain=$(cd "$(dirname "$(readlink -f "$(command -v swift)")")/.." && pwd)
folder=${VITRINE_ROOTS_FOLDER:-/var/tmp/vitrine-roots}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
failed=0
check() { # sentence, command...
  local sentence=$1
  shift
  if "$@" >"$folder/said" 2>&1; then echo "  $sentence"; else
    echo "  WRONG: $sentence"
    tail -n 5 "$folder/said" | sed 's/^/    /'
    failed=1
  fi
}
inside() { chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
install_packages() {
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$folder/apt.log" 2>&1 ||
    { tail -n 20 "$folder/apt.log" >&2; exit 1; }
}

# `lay NAME`: mounts an empty layer over the clean system, as `root`.
lay() {
  root=$folder/root-$suite-$1
  rm -rf "$folder/layer-$suite-$1"
  mkdir -p "$root" "$folder/layer-$suite-$1"/{changes,work}
  mount -t overlay overlay -o "lowerdir=$folder/packages-$suite,upperdir=$folder/layer-$suite-$1/changes,workdir=$folder/layer-$suite-$1/work" "$root"
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
}
remove_layer() {
  umount --recursive "$root"
  rm -rf "$folder/layer-$suite-$1" "$root"
}
# Mounts the project and the compiler where they are here.
with_sources() {
  mkdir -p "$root$vitrine" "$root$toolchain"
  mount --bind -o ro "$vitrine" "$root$vitrine"
  mount --bind -o ro "$toolchain" "$root$toolchain"
}
# What Swift itself needs, to run and to link.
swift_needs=(binutils ca-certificates g++ libc6-dev libcurl4 libedit2 libncurses6 libsqlite3-0 libxml2 tzdata zlib1g)

build_elsewhere() {
  lay build
  local needed
  read -ra needed <<<"$(Scripts/setup.sh packages needed | sed 's/xvfb xauth//')"
  install_packages "${swift_needs[@]}" debhelper gettext make "${needed[@]}"
  with_sources
  mkdir -p "$folder/build-$suite"
  mount --bind "$folder/build-$suite" "$root$vitrine/.build"
  echo "packages: building in $suite"
  # shellcheck disable=SC2016
  inside "PATH=$toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin" "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" bash -c '
    cd "$1" && source Scripts/lib/common.sh && release vitrine vitrine-codecs vitrine-gallery vitrine-server &&
      Scripts/package.sh deb && Scripts/package.sh tarball' Scripts/check/packages.sh "$vitrine" >"$folder/build-$suite.log" ||
    { tail -n 20 "$folder/build-$suite.log" >&2; exit 1; }
  cp "$folder/build-$suite"/packages/* .build/packages/
  remove_layer build
}

use_tool() {
  check "doctor finds nothing missing" inside vitrine doctor
  inside vitrine doctor | sed 's/^/    /'
  mkdir -p "$root/photographs"
  cp Examples/Photographs/*.* Tests/CodecTests/Fixtures/lossy{-420.avif,.jxl,.heic} "$root/photographs/"
  # shellcheck disable=SC2016
  check "a thumbnail of each photograph, of AVIF, JPEG XL and HEIC" inside sh -c '
    vitrine thumbnail /photographs/*.[jpgwah]* --size 200 -o /thumbs/ &&
      [ "$(ls /thumbs | wc -l)" = "$(ls /photographs/*.[jpgwah]* | wc -l)" ]'
  check "AVIF is written, and read again" inside sh -c '
    vitrine thumbnail /photographs/macaws-444.jpg --size 200 --format avif -o /a.avif && vitrine info /a.avif --json | grep -q avif'
  check "manual pages and completions are there" inside sh -c '
    zcat /usr/share/man/man1/vitrine-thumbnail.1.gz | grep -q "^\.SH EXAMPLES" &&
      grep -q thumbnail /usr/share/bash-completion/completions/vitrine /usr/share/zsh/vendor-completions/_vitrine \
        /usr/share/fish/vendor_completions.d/vitrine.fish'
  # shellcheck disable=SC2016
  check "the entry of the thumbnailer makes a thumbnail" inside sh -c '
    $(sed -n "s/^Exec=//p" /usr/share/thumbnailers/vitrine.thumbnailer | sed "s,%s,256,; s,%i,/photographs/lossy.jxl,; s,%o,/t.png,") &&
      [ -s /t.png ]'
}

use_server() {
  local port user
  port=$(python -c 'import services; print(services.free_port())')
  user=$(inside getent passwd vitrine-server | cut -d : -f 3,4)
  check "the server has a user of its own: $user" [ -n "$user" ]
  # shellcheck disable=SC2016
  check "its settings are for root alone, and each of them is a comment" inside sh -c '
    [ "$(stat -c "%a %U" /etc/vitrine-server.conf)" = "640 root" ] && ! grep -v "^#" /etc/vitrine-server.conf | grep .'
  check "it has a manual page" inside test -s /usr/share/man/man8/vitrine-server.8.gz
  check "its unit is valid" systemd-analyze verify --man=no --root="$root" vitrine-server.service
  inside install -d -o vitrine-server /var/cache/vitrine-server
  chroot "$root" setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --no-new-privs env -i PATH=/usr/bin \
    VITRINE_CACHE_DIR=/var/cache/vitrine-server VITRINE_LOCAL_ROOT=/photographs VITRINE_PORT="$port" \
    vitrine-server >"$folder/server.log" 2>&1 &
  server=$!
  await_server "$folder/server.log" "$server"
  for form in jpg avif webp; do
    check "it answers with $form" curl -sSf -o "$folder/picture" "http://127.0.0.1:$port/_/rs:fit:64:64/plain/local:///lossy.heic@$form"
  done
  check "it is healthy" curl -sSf "http://127.0.0.1:$port/health"
  kill -TERM "$server"
  # shellcheck disable=SC2016
  check "it ends with status 0" wait "$server"
}

use_gallery() {
  check "the gallery's entry names a program that is there" inside sh -c '
    test -x "$(sed -n "s/^TryExec=//p" /usr/share/applications/io.github.vitrine.Gallery.desktop)"'
  check "it has a manual page" inside test -s /usr/share/man/man1/vitrine-gallery.1.gz
  desktop-file-validate "$root/usr/share/applications/io.github.vitrine.Gallery.desktop" || failed=1
  # The display is reached through the network's namespace, which the system shares.
  # shellcheck disable=SC2016
  check "the gallery shows the photographs, complete at once" Scripts/lib/headless.sh bash -c '
    cp "$XAUTHORITY" "$0/xauthority"
    timeout 60 chroot "$0" env -i HOME=/root PATH=/usr/bin DISPLAY="$DISPLAY" XAUTHORITY=/xauthority GDK_BACKEND=x11 GSK_RENDERER=cairo \
      GTK_A11Y=none LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=/tmp stdbuf -oL vitrine-gallery /photographs --new-instance --times >"$1" 2>&1 &
    until grep -q "first screen" "$1" || ! kill -0 $!; do sleep 0.1; done
    kill $! || true
    cat "$1"
    grep -q "first screen: [0-9]" "$1"' "$root" "$folder/gallery.log"
  head -n 3 "$folder/gallery.log" | sed 's/^/    /'
}

use_sources() {
  install_packages "${swift_needs[@]}"
  with_sources
  mkdir -p "$root/hello/Sources/hello"
  # The example of its own README.
  sed -n '/swift-tools-version/,/^  )$/p' "$root/usr/share/doc/vitrine-swift-dev/README.Debian" | sed "s/^  //; s/\"Vitrine\", package/\"${DEPENDENT:-VitrineCaching}\", package/" \
    >"$root/hello/Package.swift"
  printf 'import %s\n\nprint("built")\n' "${DEPENDENT:-VitrineCaching}" >"$root/hello/Sources/hello/main.swift"
  check "a program is built over ${DEPENDENT:-VitrineCaching} as README.Debian says" \
    inside "PATH=$toolchain/bin:/usr/bin:/bin" sh -c 'cd /hello && swift run hello 2>/dev/null | grep -qx built'
}

# The libraries of the packages are there until `apt autoremove`.
use_archive() {
  tar -C "$root/opt" -xzf "$archive"
  # shellcheck disable=SC2016
  check "the archive's programs run where they lie" inside sh -c 'cd /opt/vitrine-*/ && for program in bin/*; do
    [ $program = bin/vitrine-codecs ] || $program --version || exit 1; done && bin/vitrine doctor'
}

mkdir -p .build/packages
for suite in $suites; do
  if [ ! -e "$folder/packages-$suite.done" ]; then
    echo "packages: installing a minimal $suite in $folder"
    rm -rf "$folder/packages-$suite"
    mkdir -p "$folder/packages-$suite"
    debootstrap --variant=minbase "$suite" "$folder/packages-$suite" >"$folder/packages-$suite.log"
    touch "$folder/packages-$suite.done"
  fi
  system=$(chroot "$folder/packages-$suite" sh -c '. /etc/os-release && echo "$ID$VERSION_ID"')
  rm -f .build/packages/*"$system"*
  if [ "$suite" = "$own" ]; then
    Scripts/package.sh deb >/dev/null
    Scripts/package.sh tarball >/dev/null
  else
    build_elsewhere
  fi
  packages=(.build/packages/*"~$system"_*.deb)
  archive=$(echo .build/packages/*-"$system"-*.tar.gz)
  echo "packages: $suite"
  ls -s --block-size=K "${packages[@]}" "$archive" | sed 's/^/    /'
  check "lintian finds no error" lintian --fail-on error --suppress-tags bad-distribution-in-changes-file .build/packages/*"~$system"_*.changes
  sed 's/^/    /' "$folder/said"
  lay use
  cp "${packages[@]}" "$root/tmp/"
  inside find / -xdev -not -path '/proc/*' -iname '*vitrine*' >"$folder/before"
  DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get update -qq
  # As a user would: with what is recommended.
  check "all packages are installed" chroot "$root" env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get install -y -qq /tmp/vitrine*.deb'
  chroot "$root" dpkg-query --show --showformat '    ${Package} ${Version}, ${Installed-Size} KB: ${Depends}\n' vitrine vitrine-server
  use_tool
  use_server
  use_gallery
  use_sources
  umount "$root$vitrine" "$root$toolchain"
  check "all packages are purged" chroot "$root" env DEBIAN_FRONTEND=noninteractive \
    apt-get purge -y -qq vitrine vitrine-server vitrine-gallery vitrine-swift-dev
  rm -rf "$root"/tmp/* "$root/hello" "$root/root/.cache"
  # The folders of this check's mounts aside.
  left=$(inside find / -xdev -not -path '/proc/*' -iname '*vitrine*' -type f -not -path '/var/lib/dpkg/*' -not -path '/var/cache/apt/*')
  check "nothing is left${left:+, but $left}" [ -z "$left" ]
  use_archive
  remove_layer use
done
exit $failed
