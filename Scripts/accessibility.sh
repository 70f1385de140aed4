#!/usr/bin/env bash
# `accessibility.sh [PROGRAM [SCRIPT ARGUMENT]]`
# Reads a window with pictures as a screen reader does: on a display and a session bus of its own, which end with it.
set -euo pipefail
program=${1:-.build/debug/accessible-window}
script=${2:-Scripts/accessibility.py}
argument=${3:-Examples/Photographs/macaws-444.jpg}
# The session bus starts that of AT-SPI when GTK asks for it. What the buses say is left out.
# shellcheck disable=SC2016
GTK_A11Y=atspi Scripts/headless.sh dbus-run-session -- bash -c 'exec "$@" >&8 2>&9' - \
  /usr/bin/python3 "$script" "$program" "$argument" 8>&1 9>&2 >/dev/null 2>&1
