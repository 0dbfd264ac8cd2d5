#!/bin/sh
# links_bite.sh LINKS_SH FACTS: one link too many, or a layer that is gone, must be seen.
set -eu
changed=$(mktemp)
trap 'rm -f "$changed"' EXIT

bites() {
  sed "$1" "$3" >"$changed"
  if sh "$2" "$changed"; then
    echo "not seen: $1"
    exit 1
  fi
}

bites 's/^hagi_rules:.*/& SQLite::SQLite3/' "$1" "$2"
bites 's/^hagi_platform:.*/& hagi_sqlite/' "$1" "$2"
bites 's/^hagi_sqlite:.*/& fmt::fmt-header-only/' "$1" "$2"
bites '/^hagi_rules:/d' "$1" "$2"
