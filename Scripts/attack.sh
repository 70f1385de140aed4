#!/usr/bin/env bash
# Attacks a program that serves thumbnails for SECONDS (60), and fails if its honest users are served too late.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -c release --package-path Fuzz --scratch-path .build/bombs --product hostile-images
rm -f .build/benchmarks/release.yaml
swift build -c release --package-path Benchmarks --scratch-path .build/benchmarks --product attack
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
.build/bombs/release/hostile-images "$folder" >/dev/null
.build/benchmarks/release/attack "$folder"
