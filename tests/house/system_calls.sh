#!/bin/sh
# system_calls.sh BINARY: exits 1 where a command makes more system calls than it did, or other syncs. The commands
# follow each other on one store that nobody else has open, so each also reads the log that the ones before it left.
# Not counted: brk and read, which depend on where the heap begins and on how much /proc has to say.
# A sync counts twice where SQLite syncs the folder with a process's first commit to the log. Who adds a call adds it
# here, and says why it is worth it.
set -eu
binary=$1
folder=$(mktemp -d /tmp/hagi-calls-XXXXXX) # as deep everywhere: each folder above is looked at
trap 'rm -rf "$folder"' EXIT
unset HAGI_LOCK_STORE HAGI_LOCK_OWNER HAGI_SESSION_ID HAGI_LOCK_FILESYSTEM

if ! strace -qq -o "$folder/calls" true 2>"$folder/why"; then
  echo "SKIPPED: strace cannot be used here: $(cat "$folder/why")"
  exit 77
fi

failed=0

# costs CALLS SYNCS WORDS...: at most so many calls, exactly so many syncs.
costs() {
  most=$1
  syncs=$2
  shift 2
  strace -qq -f -o "$folder/calls" "$binary" agent lock "$@" --store "$folder/locks.db" >"$folder/said" 2>&1 || {
    cat "$folder/said"
    failed=1
  }
  calls=$(grep -cvE ' (brk|read)\(' "$folder/calls")
  synced=$(grep -cE ' (fsync|fdatasync)\(' "$folder/calls" || true)
  verdict=ok
  if [ "$calls" -gt "$most" ] || [ "$synced" -ne "$syncs" ]; then
    verdict="at most $most calls and $syncs syncs expected"
    failed=1
  fi
  printf '%3d calls, %d syncs: %s: %s\n' "$calls" "$synced" "$*" "$verdict"
}

mine="--lock-id a --owner alice"
other="--lock-id a --owner bob"
# shellcheck disable=SC2086 # words
{
  costs 178 5 acquire $mine # makes the store, and sees that no log of another one is beside it
  costs 119 0 acquire $mine # holds it already
  costs 121 0 status $mine
  costs 125 0 renew $mine
  costs 134 2 accept $mine
  costs 137 2 acquire $other # joins the queue
  costs 133 0 status $other  # a poll
  costs 146 2 release $mine  # a hand-off
  costs 154 2 status $other  # claims
  costs 153 2 nudge $mine --reason later
  costs 135 0 list  # also asks how wide the terminal is
  costs 122 0 log
  costs 161 2 requisition $mine --reason urgent
  costs 161 2 stop $other --reason over
  costs 163 2 acquire $mine
  costs 168 2 release $mine
}
exit $failed
