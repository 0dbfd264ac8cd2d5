#!/bin/sh
# static_binary.sh BINARY: exits 1 unless it runs alone (no interpreter, no shared library), is stripped and small.
set -eu
binary=$1
most=4250000

fail() {
  echo "$binary: $1" >&2
  exit 1
}

programs=$(readelf --program-headers --wide "$binary")
case $programs in *INTERP*) fail "asks for an interpreter" ;; esac
case $programs in *DYNAMIC*) fail "has a dynamic section" ;; esac
case $(readelf --sections --wide "$binary") in *.symtab*) fail "is not stripped" ;; esac

size=$(wc -c <"$binary")
[ "$size" -lt "$most" ] || fail "has $size bytes, at least $most"
echo "$binary: static, stripped, $size bytes"
