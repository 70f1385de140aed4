# How tests are built and run: `make test`, and the checks that run some of them for longer, share one build.
# shellcheck shell=bash

# What stops tests that hang, and names them: `make test` sets it.
limited=()
# Caches would be trimmed when something else takes the machine's memory.
export VITRINE_MEMORY_PRESSURE=ignore
# The folder of the build.
folder=.build

# `build_tests`: builds all tests and the programs that they start. The manifest says what VITRINE_TEST_BUILD does. Nobody
# debugs the result, so it has no debug information, which is a tenth of the work.
build_tests() {
  export VITRINE_TEST_BUILD=1
  build --product VitrinePackageTests -Xswiftc -gnone
}

# `check_snippets`: checks the types of the code of the documentation and of the example programs, over the modules of that
# build.
check_snippets() {
  local flags=(-typecheck -swift-version 6 -warnings-as-errors -I "$folder/debug/Modules") map shim flag
  for map in Sources/System/*/module.modulemap Examples/Programs/*/module.modulemap "$folder"/debug/CVitrine*.build/module.modulemap; do
    flags+=(-Xcc "-fmodule-map-file=$map")
  done
  for shim in Sources/Shims/*/include; do flags+=(-Xcc "-I$shim"); done
  for flag in $(pkg-config --cflags gtk4); do flags+=(-Xcc "$flag"); done
  printf '%s\0' Snippets/*.swift | xargs -0 -P 2 -n 1 swiftc "${flags[@]}"
  find Examples/Programs -maxdepth 1 -name '*.swift' ! -name Package.swift -print0 |
    xargs -0 -P 2 -n 1 swiftc "${flags[@]}" -parse-as-library
}

# `swift_tests [ARGUMENT...]`: runs tests of Swift Testing that are built. All at once would wait for one another's processor
# time, each with its caches in memory. On Linux the program runs by itself, since `swift test` waits for another one to end.
swift_tests() {
  local command=(swift test --skip-build --disable-xctest)
  [ "$(uname)" != Linux ] || command=("$folder/debug/VitrinePackageTests.xctest" --testing-library swift-testing)
  ${limited[@]+"${limited[@]}"} "${command[@]}" --experimental-maximum-parallelization-width 8 "$@"
}

# `xctests [CLASS]`: runs tests of XCTest, those of widgets, on a virtual display.
xctests() {
  # What widgets say to screen readers stays within GTK, where tests read it.
  GTK_A11Y=test ${limited[@]+"${limited[@]}"} Scripts/lib/headless.sh "$folder/debug/VitrinePackageTests.xctest" "$@"
}

# `sanitized thread|address [ARGUMENT...]`: builds and runs tests of Swift Testing under a sanitizer.
sanitized() {
  # Swift's runtime never frees some memory, and one fault is Foundation's own.
  ASAN_OPTIONS=detect_leaks=0:suppressions=$PWD/Scripts/lib/asan.supp \
    swift test --disable-xctest --sanitize="$1" --scratch-path ".build/${1:0:1}san" "${@:2}"
}

# `sanitized_release [ARGUMENT...]`: the same under the address sanitizer, with all modules but those of tests as in a release.
# The bounds that only debug builds check are not checked there, so that code which relies on them is a report.
sanitized_release() {
  ASAN_OPTIONS=detect_leaks=0:suppressions=$PWD/Scripts/lib/asan.supp VITRINE_TEST_BUILD=release \
    swift test --disable-xctest --sanitize=address --scratch-path .build/rsan -Xswiftc -gnone "$@"
}
