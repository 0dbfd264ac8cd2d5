#!/bin/sh
# static_binary_bites.sh STATIC_BINARY_SH BINARY: a program that needs the system's libraries, one that kept its
# symbols and one that is too large must be seen.
set -eu
checker=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

bites() {
  case $(sh "$checker" "$1" 2>&1) in
    *"$2"*) ;;
    *)
      echo "not seen: $1 $2"
      exit 1
      ;;
  esac
}

bites "$(command -v readelf)" "asks for an interpreter"

: >"$folder/nothing"
objcopy --add-section .symtab="$folder/nothing" "$2" "$folder/symbols"
bites "$folder/symbols" "is not stripped"

cp "$2" "$folder/large"
dd if=/dev/zero bs=1000000 count=4 2>/dev/null >>"$folder/large"
bites "$folder/large" "at least"
