#!/usr/bin/env bash
# Builds and tests Vitrine in the shape of Apple's platforms, on Linux: the modules of Tests/AppleStubs stand in for
# Apple's frameworks. It shows that the core needs no other library and behaves as it should over the stubs. It does not
# show that it agrees with Apple's own frameworks.
source "$(dirname "$0")/lib/common.sh"
source Scripts/lib/tests.sh
limited=(Scripts/lib/limited.sh 1500)
if [ "$(uname)" != Linux ]; then
  echo "test-apple: this is not Linux; 'swift test' builds for this machine with Apple's own frameworks"
  exit 0
fi
folder=.build/apple
echo "The stubs, by themselves:"
swift test --package-path Tests/AppleStubs --scratch-path .build/apple-stubs --disable-xctest
export VITRINE_APPLE=1
# SwiftPM misses files added to a package that this one depends on, unless it plans the build anew.
rm -f "$folder/debug.yaml"
# Not the snippets, which are built for Linux.
swift build --product VitrinePackageTests --scratch-path "$folder"
swift build --product vitrine --scratch-path "$folder"
# The tool links all of the core, and nothing of the stubs' codecs.
libraries=$(readelf -d "$folder/debug/vitrine" | grep -oE 'lib(jpeg|png|webp|gif|lcms|curl|z)[a-z0-9]*\.so' || true)
if [ -n "$libraries" ]; then
  echo "test-apple: the core needs libraries that Apple's platforms do not have: $libraries" >&2
  exit 1
fi
# Without what is the same on every platform, and was tested as Linux has it; and without what measures the memory of
# decodes, which in the stubs is not that of Apple's.
same='ExactCountTests|EncodedCountTests|PipelineModelTests|DecodeMemoryTests'
for folder_of_tests in CachingTests SandboxTests GalleryTests ImagingTests/Processing ImagingTests/Encoding VitrineTests/Reentrancy; do
  for suite in $(grep -rhoE '(struct|class) [A-Za-z]+Tests\b' "Tests/$folder_of_tests" | cut -d' ' -f2); do
    same+="|^${folder_of_tests%%/*}\\.$suite\b"
  done
done
# shellcheck disable=SC2046
swift_tests --scratch-path "$folder" $(width) --skip "$same"
