#!/usr/bin/env bash
# Packages that depend on Vitrine, one for each product.
# Fails on any warning. PRODUCTS narrows it: names of products, and `snippets`, a package of the code in Snippets whose
# modules are isolated to the main actor by default. SCRATCH is a build folder, .build/dependents if it is not given.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/formats.sh
[ -n "${SCRATCH:-}" ] || setup
vitrine=$PWD

# product : what a program does with it
products=(
  "VitrineCaching:MemoryCache<Int>(costLimit: 1 << 20).statistics.count"
  "VitrineHTTP:CachePolicy.reload"
  "VitrineImaging:DecoderRegistry.standard.formats"
  "Vitrine:ImagePipeline.ephemeral.cachedImage(for: ImageRequest(url: \"data:,\")) == nil"
  "VitrineTiles:TiledImage.tileSize"
  "VitrineTiers:TieredDataCache.RemoteLimits().headDeadline"
  "VitrineText:TextFont.sansSerif.family"
  "VitrineTesting:PipelineParts().loader.requests.count"
  "VitrineBridges:\"without a trait\""
)
if [ "$(uname)" = Linux ]; then
  products+=("VitrineGTK:RemotePicture.self" "VitrineSandbox:Sandbox.Formats.allCases"
    "VitrineServing:ThumbnailServer.Configuration().port" "VitrineS3:S3Configuration(credentials: .anonymous).region"
    "VitrineRedis:RedisCache.Options().connections")
  for codec in $(formats codec codec:); do products+=("Vitrine$codec:${codec}Decoder().formats"); done
fi
read -ra wanted <<<"${PRODUCTS:-${products[*]%%:*} snippets}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$work/dependent
mkdir "$package"

manifest() { # targets
  cat >"$package/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "dependent",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Vitrine", path: "$vitrine")],
  targets: [
$1  ],
  swiftLanguageModes: [.v6],
)
EOF
}

failures=0
build_package() { # name; what the packages share is built once
  local log=$work/$1.log start=$SECONDS
  if ! swift build --package-path "$package" --scratch-path "${SCRATCH:-.build/dependents}" >"$log" 2>&1 ||
    grep -q 'warning:' "$log"; then
    grep -E 'warning:|error:' "$log" | sort -u | head -n 40 >&2
    echo "dependents: $1 does not build without a warning" >&2
    failures=$((failures + 1))
  else
    echo "dependents: $1 builds without a warning ($((SECONDS - start)) s)"
  fi
}

for entry in "${products[@]}"; do
  product=${entry%%:*}
  [[ " ${wanted[*]} " == *" $product "* ]] || continue
  manifest "    .executableTarget(name: \"Dependent\", dependencies: [.product(name: \"$product\", package: \"Vitrine\")]),
"
  mkdir -p "$package/Sources/Dependent"
  printf 'import %s\n\nprint(%s)\n' "$product" "${entry#*:}" >"$package/Sources/Dependent/main.swift"
  build_package "$product"
done

if [[ " ${wanted[*]} " == *" snippets "* ]]; then
  rm -rf "$package/Sources"
  targets=""
  for snippet in Snippets/*.swift; do
    name=Snippet$(basename "$snippet" .swift)
    mkdir -p "$package/Sources/$name"
    cp "$snippet" "$package/Sources/$name/"
    dependencies=""
    for module in $(grep -oE '^ *import Vitrine[A-Za-z]*' "$snippet" | awk '{ print $2 }' | sort -u); do
      dependencies+=".product(name: \"$module\", package: \"Vitrine\"), "
    done
    targets+="    .executableTarget(
      name: \"$name\",
      dependencies: [$dependencies],
      swiftSettings: [.defaultIsolation(MainActor.self)],
    ),
"
  done
  manifest "$targets"
  build_package snippets
fi
exit $((failures > 0))
