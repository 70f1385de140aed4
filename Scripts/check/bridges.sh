#!/usr/bin/env bash
# The bridges to other packages: nothing is fetched without a trait, and all compile over stand-ins.
# With URLs that lead nowhere, this package and one that depends on it build as if the packages did not exist, and with a trait
# they fail for the URL of that trait alone. Then the tests of Tests/BridgesTests run over the stand-ins of Tests/StandIns.
# SCRATCH is a build folder, .build/bridges if it is not given.
source "$(dirname "$0")/../lib/common.sh"
setup
scratch=${SCRATCH:-$PWD/.build/bridges}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/vitrine" "$work/dependent"
sed -E 's,https://github.com/[a-z-]+/,https://packages.invalid/,' Package.swift >"$work/vitrine/Package.swift"
grep -q packages.invalid "$work/vitrine/Package.swift"
for folder in Sources Tests Examples Benchmarks Fuzz Snippets; do ln -s "$PWD/$folder" "$work/vitrine/$folder"; done

dependent() { # traits
  mkdir -p "$work/dependent/Sources/Dependent"
  cat >"$work/dependent/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "dependent",
  dependencies: [.package(name: "Vitrine", path: "$work/vitrine"$1)],
  targets: [.executableTarget(name: "Dependent", dependencies: [.product(name: "VitrineBridges", package: "Vitrine"),
    .product(name: "VitrineCaching", package: "Vitrine")])],
)
EOF
  printf 'import VitrineBridges\nimport VitrineCaching\n\nprint("built without a package")\n' >"$work/dependent/Sources/Dependent/main.swift"
}
failed=0
# `resolves YES|NO TEXT COMMAND...`: whether the command succeeds, and what its output has to have.
resolves() {
  local wanted=$1 text=$2 said=no
  shift 2
  "$@" >"$work/log" 2>&1 && said=yes
  if [ "$said" = "$wanted" ] && { [ -z "$text" ] || grep -q "$text" "$work/log"; }; then
    echo "  $wanted: ${*//$work/…}${text:+ ($(grep -m 1 "$text" "$work/log" | cut -c 1-150))}"
  else
    echo "  WRONG, not $wanted: ${*//$work/…}"
    tail -n 5 "$work/log"
    failed=1
  fi
}

echo "bridges: the package itself, with URLs that lead nowhere; does it resolve?"
resolves yes '' swift package --package-path "$work/vitrine" resolve
[ ! -e "$work/vitrine/Package.resolved" ] || { echo "  WRONG: there is a Package.resolved"; failed=1; }
for trait in Logging Metrics Tracing HTTPTypes ServiceLifecycle; do
  resolves no "packages.invalid" swift package --package-path "$work/vitrine" --traits "$trait" resolve
  [ "$(grep -o 'packages.invalid/[a-z-]*' "$work/log" | sort -u | wc -l)" = 1 ] || { echo "  WRONG: $trait fetches others, too"; failed=1; }
done
echo "bridges: a package that depends on it"
dependent ''
resolves yes 'Compiling\|Build complete' swift build --package-path "$work/dependent" --scratch-path "$scratch/none"
dependent ', traits: ["Logging"]'
resolves no "packages.invalid/swift-log" swift package --package-path "$work/dependent" resolve

echo "bridges: over the stand-ins, with all traits"
export VITRINE_STAND_INS=1
build --package-path Tests/BridgesTests --scratch-path "$scratch/stand-ins" --build-tests
swift test --package-path Tests/BridgesTests --scratch-path "$scratch/stand-ins" --skip-build 2>&1 | grep -vE '◇|XCTest|Executed' || failed=1
exit $failed
