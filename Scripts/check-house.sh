#!/usr/bin/env bash
# Checks project rules that the compiler does not know, and prints each violation with the reason.
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

complain "The core asks for Apple's platforms by VITRINE_APPLE, never by canImport, which is true of stubs too:" \
  "$(grep -HnE 'canImport\((UIKit|AppKit|SwiftUI|Combine|CoreGraphics|CoreText|ImageIO|QuartzCore|Network|Symbols)\)' $sources |
    grep -v '^Sources/Apple/')"

complain "These do not exist on iOS, or trap there; they are only for Linux:" \
  "$(grep -HnE 'homeDirectoryForCurrentUser|\bProcess\(\)|\bHost\.current' $sources |
    grep -vE '^Sources/(GTK|Gallery|CommandLine|Testing|Sandbox|Confinement|CodecWorker)/' |
    grep -v '^Sources/Vitrine/PlatformDefaults.swift')"

complain "Platform conditions belong in Runtime, GTK, Apple, Codecs/System, Codecs/ImageIO, HTTP/Curl, HTTP/URLSession and PlatformDefaults.swift:" \
  "$(grep -HnE '^\s*#(if|elseif) .*(os\(|canImport\()' $sources |
    grep -vE '^Sources/(Runtime|GTK|Apple|Imaging/Codecs/(System|ImageIO)|HTTP/(Curl|URLSession))/|^Sources/Vitrine/PlatformDefaults.swift:')"

# The C modules that each folder may import, beyond what the package manifest already enforces.
complain "C is imported only where it belongs: codecs in Sources/Imaging/Codecs and Sources/Codecs, loops over pixels in Sources/Imaging/Pixels/Resampling, libcurl in Sources/HTTP/Curl, checksums in Sources/Caching, system calls in Sources/Confinement, Pango in Sources/Text/Pango, libmicrohttpd in Sources/Server, libnettle in SourceKey.swift, hiredis in Sources/Tiers/Redis, GTK in its modules:" \
  "$(grep -HnE '^\s*(@_exported )?((public|package) )?import (CLib|CVitrine|CGTK)' $sources |
    grep -vE '^Sources/(GTK|Gallery)/.*import (CGTK|CVitrineGTK)|^Sources/Imaging/Codecs/.*import (CLib|CVitrineCodecs)|^Sources/Codecs/.*import (CLib|CVitrine)|^Sources/Imaging/Pixels/Resampling/.*import CVitrineKernels|^Sources/HTTP/Curl/.*import CVitrineCurl|^Sources/Confinement/.*import (CVitrineConfinement|CLibSeccomp)|^Sources/Sandbox/.*import CVitrineSandbox|^Sources/Text/Pango/.*import CVitrineText|^Sources/Server/.*import (CVitrineMHD|CLibMicroHTTPD)|^Sources/Server/Requests/SourceKey.swift.*import CLibNettle|^Sources/Caching/.*import CVitrineCaching|^Sources/Tiers/Redis/.*import CLibHiredis')"

# What apps on Apple's platforms link of Vitrine; the other rooms are programs, or for Linux.
complain "The App Store wants a reason for these calls; Runtime, Caching and Apple/Photos have a PrivacyInfo.xcprivacy, and VitrineApple.md lists their calls:" \
  "$(grep -HnE '\b(f?stat|lstat|fstatat|f?statv?fs|f?getattrlist[a-z]*)\(.*&|mach_absolute_time|\.systemUptime|UserDefaults|activeInputModes|volumeAvailableCapacity|(modification|creation)Date\b' $sources |
    grep -E '^Sources/(Apple/[A-Z][A-Za-z+]*\.swift|HTTP|Imaging|Testing|Text|Tiers/[A-Z][A-Za-z+]*\.swift|Tiles|Vitrine)/?')"

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

complain "A file has one subject; these have over 450 lines:" \
  "$(wc -l $sources | awk '$2 != "total" && $1 > 450 { print $2 ": " $1 }')"

# Clauses without a name for their subject, of which each room may have no more than it has. Lower a number whenever a
# room has fewer.
headless=""
for entry in Apple:34 Caching:0 CodecWorker:0 Codecs:1 CommandLine:9 Confinement:3 GTK:0 Gallery:0 HTTP:0 Imaging:41 \
  Runtime:0 Sandbox:27 Server:2 Testing:5 Text:0 Tiers:1 Tiles:0 Vitrine:0; do
  count=$(grep "^Sources/${entry%:*}/" <<<"$sources" | xargs cat | perl -ne '
    $text .= "$1 " if m{^\s*//+\s*(.*)};
    END {
      # The clause, then the word before one that begins with "what".
      $found = () = $text =~ /\b(?:[Ww]hoever|[Tt]hose who|[NnSsAa][a-z]+body|all who|that of|those of|those that|one that|the one who)\b/g;
      $found += () = $text =~ /\b(?:of|by|in|from|on|with|as|than|for|and|where|says?|knows?|stores?|keeps?|makes?|finds?|found) what (?!(?:is|are) (?:the|this))/g;
      print $found
    }')
  [ "$count" -le "${entry#*:}" ] || headless+="Sources/${entry%:*} has $count, and may have ${entry#*:}"$'\n'
done
complain "Comments name their subjects (CONTRIBUTING.md says how); these rooms have more clauses without one than before:" "$headless"

# Each line of the list of protocols is somewhere in the sources, where a declaration may be written over several lines.
declarations=$(find Sources -name '*.swift' -print0 | xargs -0 cat | tr '\n' ' ' | sed -E 's/ +/ /g; s/\( /(/g; s/, \)/)/g')
missing=""
while IFS= read -r line; do
  [[ $declarations == *"${line#  }"* ]] || missing+="$line"$'\n'
done < <(sed -n '/^### The protocols/,/^## /p' Sources/Vitrine/Vitrine.docc/Recipes.md | grep -E '^  (func|var) ')
complain "Recipes.md has signatures that the protocols have not:" "$missing"

complain "Tests do not sleep:" \
  "$(git ls-files --cached --others --exclude-standard 'Tests/*.swift' | xargs -r grep -sHnE 'Task\.sleep|Thread\.sleep|\b(u|nano)?sleep\(' | grep -vE '[cC]lock(\(\))?\.sleep\(for:')"

# Code in the README, in the pages of `compiled` and in comments of Sources/Apple is compiled: as a snippet, as an example, or in
# Tests/AppleTests/Documented. Only the lines of a manifest do not stand alone.
rotten=""
block=""
inside=0
apple=Sources/Apple/VitrineApple.docc/VitrineApple.md
others=Sources/Vitrine/Vitrine.docc/FromOtherLibraries.md
coil=Sources/Vitrine/Vitrine.docc/FromCoil.md
hello=Sources/GTK/VitrineGTK.docc/HelloGTK.md
compiled=("$apple" "$hello" Sources/Vitrine/Vitrine.docc/{Recipes,CommandLine,AddingVitrine,Performance}.md
  Sources/GTK/VitrineGTK.docc/{VitrineGTK,Gallery}.md Sources/Tiles/VitrineTiles.docc/VitrineTiles.md
  Sources/Server/VitrineServing.docc/RunningAServer.md)
blocks=0
calls=$(sed -E 's/^ +//' Tests/AppleTests/Documented/*.swift)
snippets=$(sed -E 's/^ +//' Snippets/*.swift Examples/HelloGTK/Sources/*.swift Examples/Programs/*.swift)$'\n'$calls
while IFS= read -r line; do
  if [ "$line" = '```swift' ]; then
    inside=1
    block=""
  elif [ "$line" = '```' ] && [ "$inside" = 1 ]; then
    inside=0
    blocks=$((blocks + 1))
    case $block in
      .package*) ;;
      *) [[ $snippets == *"$block"* ]] || rotten+="$block"$'\n' ;;
    esac
  elif [ "$inside" = 1 ]; then
    line=${line#"${line%%[! ]*}"}
    block+=${block:+$'\n'}$line
  fi
done < <(
  cat README.md "${compiled[@]}"
  sed -nE 's,^ */// ?,,p' Sources/Apple/*.swift
)
# So is each call in the tables of VitrineApple.md, in the column before the tests, of FromOtherLibraries.md, in the last two
# columns, and of FromCoil.md, in the last one.
rows=0
while IFS= read -r call; do
  rows=$((rows + 1))
  grep -qF -- "$call" <<<"$snippets" || rotten+="$call"$'\n'
done < <(awk -F'|' '/^\|/ { if (NF == 5) print $3; if (NF == 8) print $6 $7 }' "$apple" "$others" | grep -oE '`[^`]+`' | tr -d '`'
  awk -F'|' '/^\|/ { print $4 }' "$coil" | grep -oE '`[^`]+`' | tr -d '`')
[ "$rows" -gt 110 ] || rotten+="the tables of VitrineApple.md themselves"$'\n'
[ "$blocks" -gt 90 ] || rotten+="the pages have $blocks blocks of code"$'\n'
complain "Code in README.md, ${compiled[*]##*/}, FromOtherLibraries.md, FromCoil.md and Sources/Apple stands in Snippets/, Examples/ or Tests/AppleTests/Documented too, where it is compiled:" "$rotten"

# A program that a page shows whole is named in a comment before it.
differing=""
for file in $(sed -nE 's/^<!-- (Examples.*\.swift) -->$/\1/p' "$hello"); do
  shown=$(awk -v mark="<!-- $file -->" '$0 == mark { seen = 1; next } seen && /^```$/ { exit } seen && inside { print }
    seen && /^```swift$/ { inside = 1 }' "$hello")
  [ "$shown" = "$(cat "$file")" ] || differing+="$file"$'\n'
done
grep -q '^<!-- Examples/HelloGTK/Sources/HelloGTK.swift -->$' "$hello" || differing+="HelloGTK.swift is not in it"$'\n'
complain "HelloGTK.md shows these programs word for word:" "$differing"

# The table of scenarios names their tests, and no scenario is missing in it.
missing=""
names=$(awk -F'|' '/^\|/ && NF == 5 { print $4 }' "$apple" | grep -oE '`[A-Za-z0-9]+`' | tr -d '`' | sort -u)
for name in $names; do
  git grep -qE --untracked "(func $name\(|struct $name\b)" -- Tests Examples || missing+="$name"$'\n'
done
[ "$(wc -w <<<"$names")" -gt 60 ] || missing+="the table itself"$'\n'
complain "Tests named in VitrineApple.md exist:" "$missing"
complain "The table of VitrineApple.md has every test of Examples/Scenarios:" \
  "$(comm -13 <(echo "$names") <(grep -hA2 '@Test' Examples/Scenarios/Tests/*.swift | sed -nE 's/^ +func ([A-Za-z0-9]+)\(.*/\1/p' | sort -u))"

# The documents name files and folders from the root, Sources or Tests, or by the end of their path below the document's
# own folder.
documents=$(git ls-files --cached --others --exclude-standard {README,SECURITY,CHANGELOG,ARCHITECTURE,CONTRIBUTING}.md 'Sources/*/README.md' Tests/README.md)
complain "Paths in backquotes, and links, exist in the documents of the root and in the README.md of rooms and tests:" \
  "$(git ls-files --cached --others --exclude-standard | perl -e '
    while (<STDIN>) {
      chomp;
      do { $paths{m{([^/]+)$} && $1}{$_} = 1 } while s{/[^/]+$}{};
    }
    for my $document (@ARGV) {
      my ($home) = $document =~ m{^(.*/)?};
      my ($number, $fenced) = (0, 0);
      open my $lines, "<", $document;
      while (<$lines>) {
        $number++;
        $fenced = !$fenced if /^```/;
        next if $fenced;
        while (m{`([\w.+][\w.+/-]*?)/?`}g) {
          my $path = $1;
          next unless $path =~ m{/|\.(?:swift|md|sh|py|h|c|in|txt)$};
          my $named = $paths{$path =~ m{([^/]+)$} && $1};
          next if grep m{^(?:Sources/|Tests/|\Q$home\E(?:.*/)?)?\Q$path\E$}, keys %$named;
          print "$document:$number: $path\n";
        }
        while (m{\]\((?!\w+:)([^)#]+)}g) { print "$document:$number: $1\n" unless -e "$home$1" }
      }
    }' $documents)"

# A row of README's table names products and the packages that these need.
wrong=""
while IFS='|' read -r _ products _ packages _; do
  needed=$(for product in $(tr -d '`,' <<<"$products"); do Scripts/setup.sh packages "$product"; done | xargs)
  # Package names are in backquotes.
  named=$(grep -oE '`[^`]+`' <<<"$packages" | tr -d '`' | grep -v '^Vitrine\|^make ' | xargs)
  [ "$named" = "$needed" ] || wrong+="$products: README lists '$named', Scripts/packages.txt '$needed'"$'\n'
done < <(grep '^| `Vitrine' README.md)
for package in $(grep -ohE '[a-z0-9.-]+-dev\b' Package.swift Sources/System/*/shim.h Sources/Shims/*/include/*.h); do
  grep -qE "^$package .*[|] [Vv]itrine[A-Z-]" Scripts/packages.txt || wrong+="only Package.swift or a header lists '$package'"$'\n'
done
complain "README.md and Package.swift must list the packages of Scripts/packages.txt:" "$wrong"

# The table of formats is read from its Swift. README has the one list of titles for people.
source Scripts/lib/formats.sh
grep -qxF "$(formats_sentence)" README.md ||
  complain "README.md must list the formats of Sources/Imaging/Codecs/ImageFormat+Table.swift; make format writes:" "$(formats_sentence)"
complain "README.md and CHANGELOG.md begin with the version of Sources/Runtime/Version.swift:" \
  "$(grep -q "^The version is $(version)[,.]" README.md || echo README.md
    grep -m 1 '^## ' CHANGELOG.md | grep -q "^## $(version) " || echo CHANGELOG.md)"
complain "ImageFormat.all must list each row of Sources/Imaging/Codecs/ImageFormat+Table.swift, and nothing else:" \
  "$(diff <(sed -nE 's/^  public static let ([a-zA-Z0-9]+) = Self\($/\1/p' Sources/Imaging/Codecs/ImageFormat+Table.swift | sort) \
    <(awk '/ all: / { inside = 1; next } inside && /]/ { exit } inside' Sources/Imaging/Codecs/ImageFormat+Table.swift | grep -oE '[a-zA-Z0-9]+' | sort))"
complain "Only README.md lists external formats; other documents and comments say 'external formats, such as AVIF':" \
  "$(git ls-files --cached --others --exclude-standard '*.md' 'Sources/*.swift' 'Sources/*/*.md' 'Desktop/*' | sort -u |
    grep -vE '^(CHANGELOG|README).md$|ApplePlatforms.md$' | xargs perl -0ne '
      s{\n *(///? ?)?}{ }g;
      my $one = qr/(?:AVIF|HEI[CF]|JPEG XL|TIFF|SVG)/;
      print "$ARGV: $&\n" while /$one(?:, (?:an? )?$one)+,? (?:and|or) (?:an? )?$one/g;')"

# Results that can be believed, and repeated; none is edited by hand.
nameless=""
for file in Benchmarks/Results/*.txt; do
  [ "$(head -n 4 "$file" | cut -d : -f 1 | paste -sd ' ')" = "commit date machine command" ] || nameless+="$file"$'\n'
done
complain "Results of benchmarks begin with commit, date, machine and command, as record in Scripts/lib/common.sh writes them:" "$nameless"

[ "$failures" -eq 0 ] && echo "All project rules are kept."
exit $((failures > 0))
