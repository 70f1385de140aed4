#!/usr/bin/env bash
# `install.sh install` puts what `make build` has built below DESTDIR/PREFIX (/usr/local): the tool, the program that decodes
# for it, its manual pages and completions, the gallery, what makes a desktop know them, and the server with its unit for
# systemd. `install.sh uninstall` removes the same files.
# PRODUCTS names the programs: "vitrine vitrine-codecs" is a thumbnailer without the gallery and GTK.
# STRIP=0 keeps the symbols of programs, for debuggers.
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/lib/formats.sh
prefix=${PREFIX:-/usr/local}
read -ra products <<<"${PRODUCTS:?names no program}"
built=${BUILT:-.build/release}
# An entry's command line has no safe way to say these.
case $prefix in
  *[[:space:]\"\'\\%\|\&]*) echo "install: PREFIX must not contain spaces, quotes or any of \\ % | &" >&2; exit 64 ;;
  /*) ;;
  *) echo "install: PREFIX must be an absolute path" >&2; exit 64 ;;
esac
root=${DESTDIR:-}$prefix
id=io.github.vitrine.Gallery

# mode : source : destination below PREFIX; *.in is filled in, *.po is compiled, and what begins with "vitrine " the tool prints.
files=()
for product in "${products[@]}"; do files+=("755:$built/$product:bin/$product"); done
if [[ " ${products[*]} " == *" vitrine "* ]]; then
  files+=(
    "644:Desktop/vitrine.thumbnailer.in:share/thumbnailers/vitrine.thumbnailer"
    "644:Desktop/vitrine.xml:share/mime/packages/vitrine.xml"
    "644:vitrine man:share/man/man1/vitrine.1"
    "644:Desktop/vitrine-codecs.1:share/man/man1/vitrine-codecs.1"
    "644:vitrine completions bash:share/bash-completion/completions/vitrine"
    "644:vitrine completions zsh:share/zsh/site-functions/_vitrine"
    "644:vitrine completions fish:share/fish/vendor_completions.d/vitrine.fish"
  )
  # The commands, as their table has them.
  while IFS= read -r command; do
    files+=("644:vitrine man $command:share/man/man1/vitrine-$command.1")
  done < <(sed -nE 's/^    name: "([a-z]+)",$/\1/p' Sources/CommandLine/*Command{,s}.swift)
fi
if [[ " ${products[*]} " == *" vitrine-gallery "* ]]; then
  files+=(
    "644:Desktop/$id.desktop.in:share/applications/$id.desktop"
    "644:Desktop/vitrine-gallery.1:share/man/man1/vitrine-gallery.1"
    "644:Desktop/$id.svg:share/icons/hicolor/scalable/apps/$id.svg"
    "644:Desktop/$id.metainfo.xml.in:share/metainfo/$id.metainfo.xml"
  )
  for file in Sources/Gallery/Translations/*.po; do
    files+=("644:$file:share/locale/$(basename "$file" .po)/LC_MESSAGES/vitrine-gallery.mo")
  done
fi

if [[ " ${products[*]} " == *" vitrine-server "* ]]; then
  files+=(
    "644:Desktop/vitrine-server.service.in:lib/systemd/system/vitrine-server.service"
    "644:Desktop/vitrine-server.8:share/man/man8/vitrine-server.8"
    "644:Desktop/vitrine-server.socket:lib/systemd/system/vitrine-server.socket"
  )
fi

# A package manager does this itself for what lies in DESTDIR.
refresh() {
  [ -z "${DESTDIR:-}" ] || return 0
  if command -v update-mime-database >/dev/null && [ -d "$root/share/mime/packages" ]; then
    # Its note about the search path is said below, once.
    update-mime-database "$root/share/mime" >/dev/null 2>&1 || true
  fi
  if command -v update-desktop-database >/dev/null && [ -d "$root/share/applications" ]; then
    update-desktop-database -q "$root/share/applications" || true
  fi
  # Without an index of the theme there is no cache that could be old.
  if command -v gtk4-update-icon-cache >/dev/null && [ -f "$root/share/icons/hicolor/index.theme" ]; then
    gtk4-update-icon-cache -q -t "$root/share/icons/hicolor" || true
  fi
}

case ${1:-} in
  install)
    for entry in "${files[@]}"; do
      IFS=: read -r _ source _ <<<"$entry"
      [[ $source == vitrine\ * ]] || [ -f "$source" ] || { echo "install: $source is missing; run 'make build' first" >&2; exit 1; }
    done
    filled=$(mktemp)
    trap 'rm -f "$filled"' EXIT
    for entry in "${files[@]}"; do
      IFS=: read -r mode source destination <<<"$entry"
      if [[ $source == *.in ]]; then
        filled "$source" "$prefix/bin" >"$filled"
        source=$filled
      elif [[ $source == vitrine\ * ]]; then
        # Words without spaces, of this script.
        # shellcheck disable=SC2086
        "$built"/$source >"$filled"
        source=$filled
      elif [[ $source == *.po ]]; then
        if ! command -v msgfmt >/dev/null; then
          echo "install: without msgfmt (package gettext) the gallery does not speak the language of $source" >&2
          continue
        fi
        msgfmt -o "$filled" "$source"
        source=$filled
      elif [[ $source == "$built"/* && ${STRIP:-1} == 1 ]] && command -v strip >/dev/null; then
        # Less than half as large, and 0.2 ms faster at each start.
        strip -o "$filled" "$source"
        source=$filled
      fi
      install -D -m "$mode" "$source" "$root/$destination"
      echo "$root/$destination"
    done
    refresh
    folders=:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}:
    if [ -z "${DESTDIR:-}" ] && [[ ${folders//\/:/:} != *":$prefix/share:"* ]]; then
      echo "install: desktops look into $prefix/share only if XDG_DATA_DIRS names it" >&2
    fi
    ;;
  uninstall)
    for entry in "${files[@]}"; do
      IFS=: read -r _ _ destination <<<"$entry"
      rm -f "$root/$destination"
    done
    refresh
    ;;
  *) echo "install.sh install | uninstall" >&2; exit 64 ;;
esac
