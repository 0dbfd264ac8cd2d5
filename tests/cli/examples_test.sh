#!/bin/sh
# examples_test.sh EXAMPLES HAGI: every example does what it says, with the words that are in its file.
set -eu
examples=$1
hagi=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/work"
ln -s "$hagi" "$folder/bin/hagi"
cd "$folder/work"
for name in $(env | sed -n 's/^\(HAGI_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export PATH="$folder/bin:$PATH" HAGI_LOCK_STORE="$folder/locks.db"

fail() {
  echo "$1" >&2
  exit 1
}
expect() { [ "$1" = "$2" ] || fail "expected \"$2\", got \"$1\""; }
has() { case $1 in *"$2"*) ;; *) fail "expected \"$2\" in: $1" ;; esac; }

# expect_exit CODE COMMAND...: what it says is in $said.
expect_exit() {
  wanted=$1
  shift
  code=0
  said=$("$@" 2>&1) || code=$?
  [ "$code" -eq "$wanted" ] || fail "expected exit $wanted, got $code: $* said: $said"
}

lock() { hagi agent lock "$@"; }

program() {
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

# tried NAME: said aloud, and that nothing is left behind.
tried() {
  expect "$(lock list)" "no lock is held or waited for"
  echo "$1"
}

# ---- Makefile ----
if command -v make >/dev/null; then
  cp "$examples/Makefile" .
  expect_exit 0 env USER=ann make deploy
  has "$said" "uploading to eu-1/duckov, epoch 1"
  has "$said" "restarting eu-1/duckov"
  tried Makefile
else
  echo "SKIPPED: no make here"
fi

# ---- github-actions.yml: what is below `run: |`, by the shell that runs it there ----
sed -n '/^        run: |$/,$s/^          //p' "$examples/github-actions.yml" >step
[ -s step ] || fail "no step found in github-actions.yml"
export HAGI_LOCK_OWNER=ci-1-1 GITHUB_RUN_ID=1
program deploy "exit 0"
expect_exit 0 bash -e step
has "$said" deployed
program deploy "exit 7"
expect_exit 7 bash -e step
program deploy "$folder/bin/hagi agent lock stop --lock-id eu-1/duckov --owner boss --reason order; sleep 60"
expect_exit 32 bash -e step
has "$said" "::error::"
lock acquire --lock-id eu-1/duckov --owner other --quiet
sed 's/--timeout 1800/--timeout 0/' step >impatient
program deploy "exit 0"
expect_exit 31 bash -e impatient
has "$said" "::warning::"
has "$said" other
lock release --lock-id eu-1/duckov --owner other --quiet
unset HAGI_LOCK_OWNER GITHUB_RUN_ID
tried github-actions.yml

# ---- crontab: its settings, and the job as cron would give it to sh ----
job=$(sed -n 's/^30 3 \* \* \* //p' "$examples/crontab")
settings=$(sed -n 's/^\([A-Z_]*=.*\)$/\1/p' "$examples/crontab")
has "$settings" "HAGI_LOCK_STORE=/var/lib/hagi/locks.db"
as_cron() { env -i HOME="$folder" SHELL=/bin/sh PATH="$PATH" HAGI_LOCK_STORE="$HAGI_LOCK_STORE" /bin/sh -c "$job"; }
program "$folder/bin/backup-database" "echo done >>$folder/backups"
expect_exit 0 as_cron
expect "$said$(cat "$folder/backups")" "done"
lock acquire --lock-id db/backup --owner other --quiet
expect_exit 0 as_cron
expect "$said" ""
[ "$(wc -l <"$folder/backups")" -eq 1 ] || fail "the job ran while somebody held the lock"
lock release --lock-id db/backup --owner other --quiet
program "$folder/bin/backup-database" "exit 5"
expect_exit 5 as_cron
tried crontab

# ---- two-step-deploy ----
program prepare 'echo "prepared with $1" >>steps'
program start 'echo "started with $1" >>steps'
expect_exit 0 env HAGI_LOCK_OWNER=ann "$examples/two-step-deploy" x
expect "$(cat steps)" "prepared with 1
started with 1"
rm steps
program prepare 'hagi agent lock requisition --lock-id x --owner boss --reason "rolling back" --quiet'
expect_exit 32 env HAGI_LOCK_OWNER=ann "$examples/two-step-deploy" x
has "$said" "not started"
[ ! -e steps ] || fail "it started without the lock"
expect "$(lock status --lock-id x --owner boss --print status)" Holding
lock release --lock-id x --owner boss --quiet
tried two-step-deploy

# ---- guarded-resource: the holder that was paused comes too late ----
mkdir resource
old=$(lock acquire --lock-id r --owner ann --print epoch)
expect_exit 0 "$examples/guarded-resource" resource "$old" one
new=$(lock requisition --lock-id r --owner boss --reason order --print epoch)
expect_exit 0 "$examples/guarded-resource" resource "$new" two
expect_exit 1 "$examples/guarded-resource" resource "$old" three
has "$said" "epoch $old is older than $new"
expect "$(cat resource/value)" two
expect_exit 0 "$examples/guarded-resource" resource "$new" four
expect "$(cat resource/value)" four
lock release --lock-id r --owner boss --quiet
tried guarded-resource
