#!/bin/sh
# fair_turns.sh HAGI [PROCESSES [TURNS]]: processes that take and give back one lock as fast as they can all get their
# turns, and each turn goes to whoever has waited longest: judged by the log, whatever the time it takes.
set -eu
hagi=$1
processes=${2:-8}
turns=${3:-15}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HAGI_LOCK_STORE="$folder/locks.db"

# compete OWNER: takes its turns one after the other.
compete() {
  turn=0
  while [ "$turn" -lt "$turns" ]; do
    "$hagi" agent lock acquire --wait --lock-id race --owner "$1" >/dev/null
    "$hagi" agent lock release --lock-id race --owner "$1" >/dev/null
    turn=$((turn + 1))
  done
}

running=
number=0
while [ "$number" -lt "$processes" ]; do
  compete "p$number" &
  running="$running $!"
  number=$((number + 1))
done
for process in $running; do
  wait "$process" || {
    echo "a process did not get its turns: exit $?"
    exit 1
  }
done

"$hagi" agent lock log --lock-id race --limit 100000 | sed 's/^[^ ]* *//' >"$folder/log"
awk -v expected=$((processes * turns)) '
  { owner = ""; for (i = 1; i < NF; i++) if ($i == "owner") owner = $(i + 1) }
  / queued / { queue[++last] = owner }
  / handed off / { if (queue[++first] != owner) { print "out of order: " $0; bad = 1 } }
  / released / { ++done }
  END {
    if (done != expected) { print "turns: " done + 0 ", expected " expected; bad = 1 }
    if (last == 0) { print "nobody ever waited"; bad = 1 }
    print done " turns, " last + 0 " of them waited for"
    exit bad
  }' "$folder/log"
