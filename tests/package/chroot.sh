#!/bin/sh
# chroot.sh SOURCES BUILD: Debian takes the package: no errors by lintian, and in a fresh system it installs, works, is
# found by man and is gone after its removal.
set -eu
. "$(dirname "$0")/common.sh"
in_long_runs_only
command -v lintian >/dev/null || skip "no lintian here"
command -v debootstrap >/dev/null || skip "no debootstrap here"
[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"

"$source_tree/packaging/make.sh" "$build" "$folder/out"
deb=$(echo "$folder"/out/*.deb)
lintian --allow-root --fail-on error "$deb" || fail "lintian has errors"

system=$folder/system
mirror=${HAGI_TEST_MIRROR:-http://deb.debian.org/debian}
debootstrap --variant=minbase bookworm "$system" "$mirror" >"$folder/log" 2>&1 || {
  tail -3 "$folder/log"
  skip "no Debian system could be fetched from $mirror"
}
inside() { chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
files_of() { (cd "$system" && find usr etc var/lib/dpkg/info -xdev ! -type d ! -path 'var/lib/dpkg/info/format' | sort); }

files_of >"$folder/before"
cp "$deb" "$system/hagi.deb"
inside dpkg --install /hagi.deb
[ "$(inside hagi --version)" = "$("$build/hagi" --version)" ] || fail "the installed program does not run"
inside hagi agent lock run --lock-id a --owner x -- sh -c 'echo "epoch $HAGI_LOCK_EPOCH"' | grep -q "epoch 1" ||
  fail "the installed program does not run a command"
inside dpkg --verify hagi || fail "what was installed is not what the package says"
inside dpkg --remove hagi
files_of >"$folder/after"
diff "$folder/before" "$folder/after" || fail "the removal leaves something behind"
[ -e "$system/root/.local/state/hagi/locks.db" ] || fail "the removal takes the users' locks with it"
