#!/usr/bin/env bash
# What a screen reader has of windows with pictures and of the gallery.
# Over AT-SPI, on a display and a session bus of their own. The gallery is used by keys alone: what can be used has a
# name. PARTS (window gallery) narrows it; PHOTOS is the gallery's folder.
source "$(dirname "$0")/../lib/common.sh"
setup
# The session bus starts that of AT-SPI when GTK asks for it. What the buses say is left out.
listen() { # script, program, argument
  # shellcheck disable=SC2016
  GTK_A11Y=atspi Scripts/lib/headless.sh dbus-run-session -- bash -c 'exec "$@" >&8 2>&9' - \
    /usr/bin/python3 "Scripts/check/$1.py" "$2" "$3" 8>&1 9>&2 >/dev/null 2>&1
}
for part in ${PARTS:-window gallery}; do
  case $part in
    window)
      build --product accessible-window
      listen accessible-window .build/debug/accessible-window Examples/Photographs/macaws-444.jpg
      ;;
    gallery)
      # A debug build decodes so slowly that keys come before the picture for which they are.
      release vitrine-gallery vitrine-codecs
      listen accessible-gallery .build/release/vitrine-gallery "$photographs"
      ;;
  esac
done
