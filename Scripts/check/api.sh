#!/usr/bin/env bash
# Breaking changes of the public API since a release.
# REF is the commit or tag to compare with (the last tag); PRODUCTS (all libraries) narrows it. SwiftPM builds all of both. A change that
# breaks a program is allowed where the minor version has risen since REF, and has to be named in CHANGELOG.md; within one minor
# version it fails. Scripts/check/api-accepted.txt, if there is one, has lines of SwiftPM's that are no change, one a line.
# SCRATCH is a build folder, .build/api if it is not given.
source "$(dirname "$0")/../lib/common.sh"
setup
ref=${REF:-$(git describe --tags --abbrev=0 2>/dev/null || true)}
[ -n "$ref" ] || { echo "api: there is no tag yet; name what to compare with: make check NAME=api REF=main~20" >&2; exit 64; }
git rev-parse --quiet --verify "$ref^{commit}" >/dev/null || { echo "api: there is no commit $ref" >&2; exit 64; }
version() { sed -nE 's/.*vitrineVersion = "([0-9]+\.[0-9]+)\..*"/\1/p'; }
now=$(version <Sources/Runtime/Version.swift)
then=$(git show "$ref:Sources/Runtime/Version.swift" 2>/dev/null | version || true)
arguments=("$ref")
[ -s "Scripts/$script-accepted.txt" ] && arguments+=(--breakage-allowlist-path "Scripts/$script-accepted.txt")
for product in ${PRODUCTS:-}; do arguments+=(--products "$product"); done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
swift package --scratch-path "${SCRATCH:-.build/api}" diagnose-api-breaking-changes "${arguments[@]}" >"$log" 2>&1 || status=$?
found=$(grep -cE '💔|API breakage:' "$log" || true)
if [ "$status" -ne 0 ] && [ "$found" = 0 ]; then
  tail -n 20 "$log" >&2
  echo "api: SwiftPM has compared nothing" >&2
  exit 1
fi
grep -E '💔|API breakage:|[Nn]o breaking changes|breaking changes? detected' "$log" | sed 's/^/  /' || true
changes="$found changes break"
[ "$found" != 1 ] || changes="1 change breaks"
if [ "$found" = 0 ]; then
  echo "api: nothing that breaks programs since $ref (version ${then:-without a number})"
elif [ "$now" != "$then" ]; then
  echo "api: $changes programs since $ref; version $now may, since that was ${then:-without a number}. Name them in CHANGELOG.md"
else
  echo "api: $changes programs since $ref, which is of version $then, too: raise the minor version, or take that back" >&2
  exit 1
fi
