#!/bin/sh
# manuals.sh MAN: the manual pages in the folder MAN pass both formatters without a word, and name no page that is
# not there.
set -eu
cd "$1"

complaints=$(
  for page in *.1; do
    # Which pages this machine has says nothing about ours.
    mandoc -Tlint -Wall "$page" 2>&1 | grep -v -e 'referenced manual not found' -e 'outdated mandoc.db' || true
    groff -ww -mdoc -Tutf8 -z "$page" 2>&1 || true
  done
  sed -n 's/.*\.Xr \([^ ]*\) \([0-9]\).*/\1.\2/p' ./*.1 | sort -u | while read -r page; do
    case $page in flock.1 | nohup.1 | setsid.1) continue ;; esac
    [ -f "$page" ] || echo "there is no page $page"
  done
)
if [ -n "$complaints" ]; then
  printf '%s\n' "$complaints" >&2
  exit 1
fi
