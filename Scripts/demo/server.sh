#!/usr/bin/env bash
# Thumbnails over HTTP, and URLs to try.
# Of the folder PHOTOS (Examples/Photographs), on the port VITRINE_PORT (8080). VITRINE_CACHE_DIR is demo/server.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-server vitrine-codecs
photographs=$(cd "$photographs" && pwd)
port=${VITRINE_PORT:-8080}
export VITRINE_LOCAL_ROOT=$photographs VITRINE_CACHE_DIR=${VITRINE_CACHE_DIR:-demo/server} VITRINE_PORT=$port
export VITRINE_LOG=${VITRINE_LOG:-on}
# Harmless here: it listens on 127.0.0.1, and its sources are the photographs of this folder.
[ "$(id -u)" != 0 ] || export VITRINE_ALLOW_ROOT=on
unset VITRINE_CORPUS VITRINE_TRACES
mapfile -t names < <(cd "$photographs" && printf '%s\n' *.jpg | head -n 3)
cat <<EOF
A photograph within 600 by 600 pixels, in the format that the browser likes best:
  http://127.0.0.1:$port/_/rs:fit:600:600/plain/local:///${names[0]}
The part of another one that shows the most, as WebP:
  http://127.0.0.1:$port/_/rs:fill:400:400/g:sm/plain/local:///${names[1]:-${names[0]}}@webp
For people, with rounded corners:
  http://127.0.0.1:$port/?src=local:///${names[2]:-${names[0]}}&w=300&h=300&fit=fill&rounded_corners=24&format=png

EOF
exec .build/release/vitrine-server
