# How tests are built and run: `make test`, and the checks that run some of them for longer, share one build.
# shellcheck shell=bash

# What stops tests that hang, and names them: `make test` sets it.
limited=()

build_tests() { build --build-tests; }

# `swift_tests [ARGUMENT...]`: runs tests of Swift Testing that are built.
swift_tests() { ${limited[@]+"${limited[@]}"} swift test --skip-build --disable-xctest "$@"; }

# `xctests [ARGUMENT...]`: runs tests of XCTest that are built, those of widgets, on a virtual display.
xctests() { ${limited[@]+"${limited[@]}"} Scripts/lib/headless.sh swift test --skip-build --disable-swift-testing "$@"; }

# `sanitized thread|address [ARGUMENT...]`: builds and runs tests of Swift Testing under a sanitizer.
sanitized() {
  # Swift's runtime never frees some memory, and one fault is Foundation's own.
  ASAN_OPTIONS=detect_leaks=0:suppressions=$PWD/Scripts/lib/asan.supp \
    swift test --disable-xctest --sanitize="$1" --scratch-path ".build/${1:0:1}san" "${@:2}"
}

# All tests at once would wait for one another's processor time, each with its caches in memory.
width() {
  ! swift test --help-hidden 2>/dev/null | grep -q maximum-parallelization-width ||
    echo --experimental-maximum-parallelization-width 8
}
