#!/usr/bin/env bash
# Runs a program with windows on a virtual display: `headless.sh PROGRAM ARGUMENT...`
set -euo pipefail
if [ -z "${XDG_RUNTIME_DIR:-}" ]; then
  XDG_RUNTIME_DIR=$(mktemp -d)
  trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT
fi
# Software rendering over X, without desktop buses, and without a compiler of shaders, which takes 100 MB.
export XDG_RUNTIME_DIR GDK_BACKEND=x11 GSK_RENDERER=cairo LIBGL_ALWAYS_SOFTWARE=1 GDK_DEBUG=gl-disable
export GTK_A11Y=${GTK_A11Y:-none}
xvfb-run -a -s "-screen 0 1280x900x24" "$@"
