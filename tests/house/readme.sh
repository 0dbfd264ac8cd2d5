#!/bin/sh
# readme.sh ROOT: whoever opens README.md learns of the two commands that matter first.
set -eu
for command in './dev run' './dev test'; do
  grep -qF "$command" "$1/README.md" || {
    echo "README.md does not name $command" >&2
    exit 1
  }
done
