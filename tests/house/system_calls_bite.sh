#!/bin/sh
# system_calls_bite.sh SYSTEM_CALLS_SH BINARY: one call more than allowed must be seen: here those of a shell before it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

printf '#!/bin/sh\nsync "$0"\nexec "%s" "$@"\n' "$2" >"$folder/slower"
chmod +x "$folder/slower"
code=0
said=$(sh "$1" "$folder/slower" 2>&1) || code=$?
case $code:$said in
  77:*)
    echo "$said"
    exit 77
    ;;
  1:*"at most"*) ;;
  *)
    echo "not seen: $said"
    exit 1
    ;;
esac
