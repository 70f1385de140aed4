#!/usr/bin/env bash
# Builds and tests Vitrine in the shape of Apple's platforms, on Linux: the modules of Tests/AppleStubs stand in for
# Apple's frameworks. It shows that the core needs no other library and behaves as it should over the stubs. It does not
# show that it agrees with Apple's own frameworks. `test-apple.sh build` only builds.
source "$(dirname "$0")/lib/common.sh"
source Scripts/lib/tests.sh
if [ "$(uname)" != Linux ]; then
  echo "test-apple: this is not Linux; 'swift test' builds for this machine with Apple's own frameworks"
  exit 0
fi
export VITRINE_APPLE=1 VITRINE_TEST_BUILD=1
folder=.build/apple
# Not the snippets, which are built for Linux.
build --product VitrinePackageTests --scratch-path "$folder" -Xswiftc -gnone
build --product vitrine --scratch-path "$folder" -Xswiftc -gnone
# The tool links all of the core, and nothing of the stubs' codecs.
libraries=$(readelf -d "$folder/debug/vitrine" | grep -oE 'lib(jpeg|isal|webp|gif|lcms|curl|z)[a-z0-9]*\.so' || true)
if [ -n "$libraries" ]; then
  echo "test-apple: the core needs libraries that Apple's platforms do not have: $libraries" >&2
  exit 1
fi
[ "${1:-}" != build ] || exit 0
limited=(Scripts/lib/limited.sh 1500)
swift_tests
