#!/usr/bin/env bash
# Rules of the house that the compiler does not know. Says what is broken, where and why.
set -uo pipefail
failures=0
complain() { # title, lines
  [ -z "$2" ] && return
  printf '%s\n%s\n\n' "$1" "$2" >&2
  failures=$((failures + 1))
}

sources=$(git ls-files --cached --others --exclude-standard 'Sources/*.swift')

complain "Foundation is imported in Sources/Runtime/Foundation.swift only (FoundationEssentials is 44 MB smaller):" \
  "$(grep -HnE '^\s*(@_exported )?((public|package|internal) )?import (Foundation|FoundationEssentials|FoundationNetworking|Glibc|Musl|Darwin)\s*$' $sources |
    grep -v '^Sources/Runtime/Foundation.swift:')"

complain "Platform conditions belong to the front doors, Sources/Runtime, Codecs/System, Codecs/ImageIO, HTTP/Curl and HTTP/URLSession:" \
  "$(grep -HnE '^\s*#(if|elseif) .*(os\(|canImport\()' $sources |
    grep -vE '^Sources/(Runtime|GTK|Apple|Imaging/Codecs/(System|ImageIO)|HTTP/(Curl|URLSession))/|^Sources/Vitrine/PlatformDefaults.swift:')"

# What each room may import, beyond what the compiler already refuses because the package does not list it.
complain "C is imported where it belongs: codecs in Sources/Imaging/Codecs and Sources/Codecs, loops over pixels in Sources/Imaging/Resampling, libcurl in Sources/HTTP/Curl, checksums in Sources/Caching, GTK in its rooms:" \
  "$(grep -HnE '^\s*(@_exported )?((public|package) )?import (CLib|CVitrine|CGTK)' $sources |
    grep -vE '^Sources/(GTK|Gallery)/.*import (CGTK|CVitrineGTK)|^Sources/Imaging/Codecs/.*import (CLib|CVitrineCodecs)|^Sources/Codecs/.*import (CLib|CVitrine)|^Sources/Imaging/Resampling/.*import CVitrineKernels|^Sources/HTTP/Curl/.*import CVitrineCurl|^Sources/Caching/.*import CVitrineCaching')"

complain "@unchecked Sendable says beside it why it is right:" \
  "$(for file in $sources; do
    awk -v file="$file" '{ line[NR] = $0 } END {
      for (i = 1; i <= NR; i++) if (line[i] ~ /@unchecked Sendable/ && line[i] !~ /^ *\/\//) {
        said = 0
        for (j = i - 2; j <= i + 2; j++) if (line[j] ~ /\/\//) said = 1
        if (!said) print file ":" i ": " line[i]
      } }' "$file"
  done)"

complain "No try!, as! or fatalError in Sources:" "$(grep -HnE 'try!|\bas!|fatalError\(' $sources)"

complain "A file is one thing; these have over 450 lines:" \
  "$(wc -l $sources | awk '$2 != "total" && $1 > 450 { print $2 ": " $1 }')"

complain "Tests do not sleep:" \
  "$(git ls-files --cached --others --exclude-standard 'Tests/*.swift' | xargs -r grep -sHnE 'Task\.sleep|Thread\.sleep|\b(u|nano)?sleep\(' | grep -v 'sleep(for:' )"

# Code in the README is compiled, as a snippet; only the manifest's lines are not Swift that stands alone.
rotten=""
block=""
inside=0
snippets=$(sed -E 's/^ +//' Snippets/*.swift)
while IFS= read -r line; do
  if [ "$line" = '```swift' ]; then
    inside=1
    block=""
  elif [ "$line" = '```' ] && [ "$inside" = 1 ]; then
    inside=0
    case $block in
      .package*) ;;
      *) [[ $snippets == *"$block"* ]] || rotten+="$block"$'\n' ;;
    esac
  elif [ "$inside" = 1 ]; then
    line=${line#"${line%%[! ]*}"}
    block+=${block:+$'\n'}$line
  fi
done <README.md
complain "Code in README.md stands in Snippets/ too, where it is compiled:" "$rotten"

# A row of README's table names products, and behind them the packages that these are built on.
wrong=""
while IFS='|' read -r _ products _ packages _; do
  needed=$(for product in $(tr -d '`,' <<<"$products"); do Scripts/setup.sh packages "$product"; done | xargs)
  # A package is between backquotes; the rest is words.
  named=$(grep -oE '`[^`]+`' <<<"$packages" | tr -d '`' | grep -v '^Vitrine\|^make ' | xargs)
  [ "$named" = "$needed" ] || wrong+="$products: README has '$named', Scripts/setup.sh '$needed'"$'\n'
done < <(grep '^| `Vitrine' README.md)
brew=$(Scripts/setup.sh packages brew)
grep -qF "\`brew install $brew\`" README.md || wrong+="Homebrew's: Scripts/setup.sh has '$brew'"$'\n'
for package in $(grep -oE '"[a-z0-9-]+-dev"' Package.swift | tr -d '"'); do
  grep -q "^  \"$package:.*:Vitrine[A-Z]*" Scripts/setup.sh || wrong+="Package.swift has '$package'"$'\n'
done
for package in $(grep -oE 'brew: "[a-z0-9-]+"' Package.swift | cut -d '"' -f 2); do
  [[ " $brew " == *" $package "* ]] || wrong+="Package.swift has '$package' of Homebrew's"$'\n'
done
complain "The packages to install are those of Scripts/setup.sh, in README.md and Package.swift too:" "$wrong"

[ "$failures" -eq 0 ] && echo "The rules of the house are kept."
exit $((failures > 0))
