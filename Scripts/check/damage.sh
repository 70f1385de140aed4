#!/usr/bin/env bash
# The rows of cut files that are shown, beside those of Pillow.
# Photographs of each kind are cut at 10, 30, 60, 90 and 99 %. Fails if `vitrine thumbnail --damaged show` gives fewer rows
# of one than Pillow with LOAD_TRUNCATED_IMAGES, or shows rows that the file has not. SHEET (.build/damage.png) shows all of
# them; VITRINE is the tool, if it is not to be built.
source "$(dirname "$0")/../lib/common.sh"
setup
tool=${VITRINE:-.build/release/vitrine}
[ -n "${VITRINE:-}" ] || release vitrine vitrine-codecs
record damage python Scripts/check/damage.py "$tool" "$photographs" "${SHEET:-.build/damage.png}"
