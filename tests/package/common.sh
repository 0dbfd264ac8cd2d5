# shellcheck shell=sh
# What the tests of packages share. Sourced with: source tree, build; a folder of its own is in $folder.
source_tree=$1
build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}
skip() {
  echo "SKIPPED: $1"
  exit 77
}
has_file() { [ -s "$1" ] || fail "missing or empty: $1"; }

# in_long_runs_only: they take minutes, or the network.
in_long_runs_only() { [ "${HAGI_TEST_LONG:-}" = 1 ] || skip "runs with HAGI_TEST_LONG=1 (./dev soak)"; }

# check_modes FOLDER: nothing that others may not read, nothing that others may write.
check_modes() {
  odd=$(find "$1" -mindepth 1 \( -type d ! -perm 755 \) -o \( -type f ! -perm 644 ! -perm 755 \))
  [ -z "$odd" ] || fail "odd modes: $(ls -ld $odd)"
}

# check_takes_turns BINARY: it does its main job.
check_takes_turns() {
  rm -f "$folder"/turns.db*
  epoch=$(env -u HAGI_LOCK_OWNER "$1" agent lock acquire --store "$folder/turns.db" --lock-id a --owner x --print epoch 2>&1 |
    tail -1)
  [ "$epoch" = 1 ] || fail "$1 does not get a lock: $epoch"
}
