#!/usr/bin/env bash
# Builds the documentation into site/, as pages that open from disk, and packs them into ARCHIVE if set. DocC judges the catalogues
# first, and needs a web server to show them, so the pages are those of Scripts/site. Warnings, such as dead links, are errors, and
# so are public symbols without a comment.
set -euo pipefail
source Scripts/lib/formats.sh
# In the order of the menu.
modules=(
  Vitrine:Vitrine VitrineImaging:Imaging VitrineCaching:Caching VitrineHTTP:HTTP VitrineRuntime:Runtime
  VitrineTiles:Tiles VitrineTiers:Tiers VitrineText:Text VitrineTesting:Testing
)
[ "$(uname)" = Linux ] && modules+=(VitrineGTK:GTK VitrineSandbox:Sandbox VitrineServingRequests:Server/Requests VitrineServing:Server VitrineS3:Tiers/S3)
[ "$(uname)" = Linux ] && modules+=(VitrineRedis:Tiers/Redis)
[ "$(uname)" = Linux ] && for codec in $(formats codec codec:); do modules+=("Vitrine$codec:Codecs/$codec"); done
find_tool() { command -v "$1" || xcrun --find "$1"; }
docc=$(find_tool docc)
extract=$(find_tool swift-symbolgraph-extract)
work=.build/docs
rm -rf "$work" site
mkdir -p "$work"

swift build
built=$(swift build --show-bin-path)
triple=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p' | head -n 1)

# Loading a Swift module also needs the C modules that it imports.
includes=(-I "$built/Modules" -I "$built")
for folder in Sources/Shims/*/include/ Sources/System/*/; do includes+=(-I "$folder"); done

# shellcheck disable=SC2207
[ "$(uname)" = Linux ] && includes+=($(pkg-config --cflags-only-I gtk4 libavif libheif libjxl librsvg-2.0 libtiff-4))

for entry in "${modules[@]}"; do
  module=${entry%%:*}
  mkdir -p "$work/$module"
  # VitrineRuntime re-exports Foundation and the C library to the other modules; do not document those.
  "$extract" -module-name "$module" -target "$triple" "${includes[@]}" -minimum-access-level public \
    -skip-synthesized-members -emit-extension-block-symbols -experimental-allowed-reexported-modules=none -output-dir "$work/$module"
  "$docc" convert "Sources/${entry##*:}/$module.docc" --fallback-display-name "$module" \
    --fallback-bundle-identifier "vitrine.$module" --additional-symbol-graph-dir "$work/$module" \
    --transform-for-static-hosting --experimental-documentation-coverage --coverage-summary-level detailed \
    --warnings-as-errors --output-path "$work/$module.doccarchive" >"$work/$module.coverage" ||
    { cat "$work/$module.coverage" >&2 && exit 1; }
done
# Where there is no Apple SDK, the page of its views has no symbols.
[[ " ${modules[*]} " == *" VitrineApple:"* ]] || modules+=(VitrineApple:Apple)
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 Scripts/site/site.py "$work" site "${modules[@]}"

# The columns are: name | kind | has an abstract | …. Synthesized members and pages of other modules' types have none.
undocumented=$(awk -F ' *[|] *' '$3 == "false" && $2 != "CollectionGroup" && $2 != "Article" && $2 !~ /Extended/ &&
  $1 !~ /^(!=\(|hash\(into|hashValue|init\(rawValue|allCases|AllCases|RawValue|localizedDescription)/ { print "  " $NF }' \
  "$work"/*.coverage)
if [ -n "$undocumented" ]; then
  echo "docs: public symbols without a comment:" >&2
  echo "$undocumented" >&2
  exit 1
fi
documented=$(awk -F ' *[|] *' '$3 == "true"' "$work"/*.coverage | wc -l)
[ -z "${ARCHIVE:-}" ] || tar -czf "$ARCHIVE" --transform 's/^site/vitrine-reference/' site
echo "docs: $documented public symbols, each with a comment"
