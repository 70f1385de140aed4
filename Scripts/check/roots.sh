#!/usr/bin/env bash
# Each product in a minimal Debian with only its own packages. Needs root.
# Made with debootstrap. Root is for chroot and mounts, which end with the script. PRODUCTS narrows
# it; VITRINE_ROOTS_FOLDER (/var/tmp/vitrine-roots) is where the systems are.
source "$(dirname "$0")/../lib/common.sh"
if [ "${VITRINE_ROOTS:-}" != mounted ]; then
  [ "$(id -u)" -eq 0 ] || { echo "roots: run as root, for chroot and mounts" >&2; exit 1; }
  setup
  VITRINE_ROOTS=mounted exec unshare --mount --propagation private "Scripts/$script.sh"
fi

vitrine=$PWD
toolchain=$(cd "$(dirname "$(readlink -f "$(command -v swift)")")/.." && pwd)
folder=${VITRINE_ROOTS_FOLDER:-/var/tmp/vitrine-roots}
base=$folder/base
mkdir -p "$folder"

if [ ! -e "$folder/base.done" ]; then
  # shellcheck disable=SC1091
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "roots: installing a minimal $suite in $folder"
  rm -rf "$base"
  debootstrap --variant=minbase "$suite" "$base" >"$folder/debootstrap.log"
  # What Swift itself needs, to run and to link.
  DEBIAN_FRONTEND=noninteractive chroot "$base" apt-get install -y -qq --no-install-recommends \
    binutils ca-certificates g++ libc6-dev libcurl4 libedit2 libncurses6 libsqlite3-0 libxml2 tzdata zlib1g >"$folder/apt.log"
  touch "$folder/base.done"
fi

# What a product builds on of ours.
parts() {
  case $1 in
    Vitrine | VitrineTesting) echo VitrineImaging VitrineHTTP ;;
    VitrineS3) echo VitrineHTTP ;;
    VitrineText) echo VitrineImaging VitrineText ;;
    VitrineGTK) echo VitrineImaging VitrineHTTP VitrineGTK ;;
    *)
      if [ -d "Sources/Codecs/${1#Vitrine}" ]; then echo VitrineImaging; fi
      echo "$1"
      ;;
  esac
}

read -ra products <<<"${PRODUCTS:-}"
# What is built for one serves the next, which has more packages than the one before: whatever is missing there is missed.
[ ${#products[@]} -gt 0 ] || products=(
  VitrineCaching VitrineHTTP VitrineS3 VitrineImaging VitrineAVIF VitrineHEIF VitrineJXL VitrineSVG VitrineRedis VitrineSandbox VitrineTIFF Vitrine
  VitrineTesting VitrineText VitrineGTK
)
failures=0
for product in "${products[@]}"; do
  packages=$(for part in $(parts "$product"); do Scripts/setup.sh packages "$part"; done | xargs)
  root=$folder/root
  rm -rf "$folder/changes" "$folder/work"
  mkdir -p "$root" "$folder/changes" "$folder/work" "$folder/scratch"
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$folder/changes,workdir=$folder/work" "$root"
  mkdir -p "$root$vitrine" "$root$toolchain" "$root/scratch"
  mount --bind "$folder/scratch" "$root/scratch"
  mount --bind -o ro "$vitrine" "$root$vitrine"
  mount --bind -o ro "$toolchain" "$root$toolchain"
  mount -t proc proc "$root/proc"
  # shellcheck disable=SC2086
  [ -z "$packages" ] || DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends \
    $packages >"$folder/apt.log" 2>&1 || { tail -n 5 "$folder/apt.log" >&2; exit 1; }
  echo "roots: $product with ${packages:-no packages}"
  chroot "$root" env -i HOME=/root PATH="$toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    SCRATCH=/scratch PRODUCTS="$product" "$vitrine/Scripts/check/dependents.sh" || failures=$((failures + 1))
  umount --recursive "$root"
done
rm -rf "$folder/changes" "$folder/work"
exit $((failures > 0))
