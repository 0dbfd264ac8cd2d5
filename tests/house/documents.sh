#!/bin/sh
# documents.sh HAGI ROOT: runs every command of the guide, of the skill file and of the README's examples, and what
# `hagi agent lock guide` prints is what these files say. A block is one history of one session, on a store of its own.
set -eu
hagi=$1
root=$2
folder=$(mktemp -d)
session=
trap 'clean_up' EXIT
trap 'exit 130' INT TERM

clean_up() {
  if [ -n "$session" ]; then kill -KILL -"$session" 2>/dev/null || true; fi
  rm -rf "$folder"
}

fail() {
  echo "documents: $1" >&2
  exit 1
}

# blocks FILE PREFIX: writes each fenced block of shell commands to PREFIX.N.block, and each command that stands in a
# line of text between backquotes, complete, to a block of its own.
blocks() {
  awk -v prefix="$2" '
    function file() { return sprintf("%s.%03d.block", prefix, ++count) }
    /^```/ && inside { inside = 0; close(name); next }
    /^```sh$/ { inside = 1; name = file(); next }
    /^```/ { inside = 1; name = "/dev/null"; next }
    inside { print >name; next }
    {
      line = $0
      while (match(line, /`hagi agent lock [a-z]+[^`]* --[^`]*`/)) {
        name = file()
        print substr(line, RSTART + 1, RLENGTH - 2) >name
        close(name)
        line = substr(line, RSTART + RLENGTH)
      }
    }' "$1"
}

lock() { "$hagi" agent lock "$@" --lock-id eu-1/duckov; }
quietly() { "$@" >/dev/null; }

# prepare TEXT: what must have happened before a block with that text.
prepare() {
  case $1 in
    *' acquire '* | *' run '*) ;;
    *' nudge '*) quietly lock acquire --owner alice ;;
    *' requisition '*)
      for _ in 1 2 3 4 5 6; do
        quietly lock acquire --owner alice
        quietly lock release --owner alice
      done
      quietly lock acquire --owner alice
      ;;
    *) quietly lock acquire --owner sess-7f2c ;;
  esac
}

# A heartbeat beats until its owner gives the lock back, which a block may do itself.
end_of_turn() {
  case $1 in *' release '*) return ;; esac
  tries=0
  until lock status --owner sess-7f2c --wait-seconds 1 --json | grep -q '"watcher"'; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || fail "no heartbeat was seen"
  done
  quietly lock release --owner sess-7f2c
}

# run_block FILE: it must end as it would for a reader.
run_block() {
  text=$(cat "$1")
  rm -rf "$folder/work"
  mkdir -p "$folder/work"
  cd "$folder/work"
  printf '#!/bin/sh\necho deployed\n' >deploy
  chmod +x deploy
  export HAGI_LOCK_STORE="$folder/work/locks.db"
  prepare "$text"
  code=0
  expected=0
  case $text in
    *heartbeat*)
      setsid env HAGI_LOCK_OWNER=sess-7f2c CI_JOB_ID=1 sh -euc "$text
wait" >out 2>&1 &
      session=$!
      end_of_turn "$text"
      wait "$session" || code=$?
      session=
      case $text in *'&'*) ;; *) expected=32 ;; esac
      ;;
    *) timeout 60 env HAGI_LOCK_OWNER=sess-7f2c CI_JOB_ID=1 sh -euc "$text" >out 2>&1 || code=$? ;;
  esac
  [ "$code" -eq "$expected" ] || {
    cat out >&2
    fail "exit $code instead of $expected of: $text"
  }
  cd "$folder"
}

# without_times FILE: what is the same each time.
without_times() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g; /^$/d' "$1"; }

# The recording with which the README begins, played again: its one background command waits for its turn.
play_recording() {
  cd "$folder"
  export HAGI_LOCK_STORE="$folder/recording.db"
  quietly "$hagi" agent lock acquire --lock-id another --owner somebody
  awk '/^```console$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md" >recording
  [ -s recording ] || fail "the README has no recording"
  grep '^\$ ' recording | sed 's/^\$ //' >commands
  while IFS= read -r command; do
    printf '$ %s\n' "$command" >>played
    case $command in
      *' &')
        timeout 60 sh -c "${command% &}" >background 2>&1 &
        waiter=$!
        until grep -q . background; do quietly "$hagi" agent lock list; done
        cat background >>played
        shown=$(wc -l <background)
        ;;
      *) sh -c "$command" >>played 2>&1 || fail "the recorded command failed: $command" ;;
    esac
  done <commands
  wait "$waiter" || fail "the recorded waiter ended with exit $?"
  tail -n "+$((shown + 1))" background >>played
  without_times recording >expected
  without_times played | diff expected - >&2 || fail "the recording in the README is not what happens"
}

bin=$folder/bin
mkdir "$bin"
ln -s "$hagi" "$bin/hagi"
PATH=$bin:$PATH
unset HAGI_LOCK_OWNER HAGI_SESSION_ID HAGI_LOCK_STUCK_AFTER HAGI_LOCK_FILESYSTEM

skill=$root/skills/hagi
"$hagi" agent lock guide | cmp - "$skill/references/resource-lock.md" || fail "the guide is not the file's"
"$hagi" agent lock guide --skill | cmp - "$skill/SKILL.md" || fail "the skill is not the file's"
"$hagi" agent lock guide --json --store /nowhere/at/all | grep -q '^{"guide":"# ' || fail "the guide in JSON"

blocks "$skill/SKILL.md" "$folder/skill"
blocks "$skill/references/resource-lock.md" "$folder/guide"
sed '/^## Install/,/^## /d' "$root/README.md" >"$folder/readme.md"
blocks "$folder/readme.md" "$folder/readme"
count=0
for block in "$folder"/*.block; do
  run_block "$block"
  count=$((count + 1))
done
[ "$count" -ge 20 ] || fail "only $count blocks were found"
play_recording
echo "$count blocks of commands ran as they should"
