#!/usr/bin/env bash
# The inner loops of CVitrineKernels on x86-64 and, emulated, on arm64, against plain loops: the same bits.
# Each kernel gets ROUNDS (20) times random and extreme numbers in all lengths up to 131 and with up to 40 taps, compiled as
# in a debug build and as in release. Fails if a result is wrong, or differs between the processors, and names the kernel.
# This needs an x86-64 processor with AVX2. It says nothing about speed on arm64.
source "$(dirname "$0")/../lib/common.sh"
setup
work=.build/arm64 kernels=Sources/Shims/CVitrineKernels
mkdir -p "$work"
for level in -O0 -O2; do
  for processor in x86_64 aarch64; do
    program=$work/$processor$level emulator=()
    [ "$processor" = "$(uname -m)" ] || emulator=("qemu-$processor")
    clang --target="$processor-linux-gnu" "$level" -Wall -Wextra -Werror -fuse-ld=lld -static -I "$kernels/include" \
      "$kernels"/*.c Scripts/check/arm64.c -o "$program"
    "${emulator[@]}" "$program" "${ROUNDS:-20}" >"$program.txt" ||
      { echo "arm64: the kernels for $processor fail, compiled with $level" >&2; exit 1; }
  done
  diff "$work/x86_64$level.txt" "$work/aarch64$level.txt" ||
    { echo "arm64: these kernels' results on x86-64 (<) and arm64 (>) differ, compiled with $level" >&2; exit 1; }
done
cat "$work/aarch64-O2.txt"
echo "All $(wc -l <"$work/aarch64-O2.txt") kernels give the same bits on x86-64 and on arm64."
