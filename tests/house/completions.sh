#!/bin/sh
# completions.sh SHELL HAGI ROOT: what SHELL (bash, zsh or fish) offers with the completion of that shell is what HAGI
# has: its verbs, the options of each verb, lock ids from the store, the owner from the environment, values.
set -eu
shell=$1
hagi=$2
root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
broken=0

command -v "$shell" >/dev/null || {
  echo "skipped: there is no $shell here" >&2
  exit 77
}

mkdir "$work/bin"
ln -s "$hagi" "$work/bin/hagi"
export PATH="$work/bin:$PATH" HOME="$work" LC_ALL=C.UTF-8 TERM=dumb
export HAGI_LOCK_STORE="$work/locks.db" HAGI_LOCK_OWNER=sess-7f2c
unset HAGI_SESSION_ID XDG_STATE_HOME

# offered LINE...: the candidates for each line, sorted, one a line; an empty line behind each.
offered() {
  # shellcheck disable=SC2016 # expanded by that shell
  case $shell in
    bash)
      bash --norc --noprofile -c '
        source "$1"
        shift
        for COMP_LINE in "$@"; do
          COMP_POINT=${#COMP_LINE}
          _hagi
          ((${#COMPREPLY[@]} == 0)) || printf "%s\n" "${COMPREPLY[@]}" | sort -u
          echo
        done' bash "$root/completions/hagi.bash" "$@"
      ;;
    fish)
      fish --no-config -c '
        source $argv[1]
        for line in $argv[2..]
          complete -C $line | string replace -r "\t.*" "" | string replace -r "^(--.*)=\$" "\$1" | sort -u
          echo
        end' "$root/completions/hagi.fish" "$@"
      ;;
    zsh) zsh -f "$root/tests/house/complete.zsh" "$root/completions/hagi.zsh" "$@" ;;
  esac
}

# The N-th group of `answers`, in one line.
group() { awk -v n="$1" 'BEGIN { RS = ""; } NR == n' "$work/answers" | LC_ALL=C sort -u | tr '\n' ' '; }

one_line() { LC_ALL=C sort -u | tr '\n' ' '; }

lines_file=$work/lines
: >"$lines_file"
count=0
# expect LINE WANTED...: asked below, all at once; an unasked-for candidate counts as well as a missing one.
expect() {
  count=$((count + 1))
  printf '%s\n' "$1" >>"$lines_file"
  shift
  printf '%s\n' "$@" | one_line >"$work/wanted.$count"
}

"$hagi" agent lock acquire --lock-id eu-1/duckov --owner alice >/dev/null
"$hagi" agent lock acquire --lock-id eu-1/a:b@c --owner alice >/dev/null
"$hagi" agent lock acquire --lock-id us-2/wald --owner alice >/dev/null
"$hagi" agent lock release --lock-id us-2/wald --owner alice >/dev/null
"$hagi" agent lock acquire --lock-id elsewhere/x --owner alice --store "$work/other.db" >/dev/null

verbs=$("$hagi" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -vx hagi)
for verb in $verbs; do
  options=$("$hagi" agent lock "$verb" --help | sed -n '/^  -/s/^  \([^ ]*\).*/\1/p' | tr ',' '\n' | grep '^--')
  # shellcheck disable=SC2086 # a list of words
  expect "hagi agent lock $verb --" $options
done
# shellcheck disable=SC2046 # a list of words
expect 'hagi mcp --' $("$hagi" mcp --help | sed -n '/^  -/s/^  \([^ ]*\).*/\1/p' | tr ',' '\n' | grep '^--')
expect 'hagi ag' agent
expect 'hagi m' mcp
expect 'hagi agent l' lock
expect 'hagi agent lock st' status stop
expect 'hagi agent lock acquire --lock-id ' eu-1/duckov eu-1/a:b@c us-2/wald
expect 'hagi agent lock acquire --lock-id eu-1/d' eu-1/duckov
expect 'hagi agent lock log --lock-id u' us-2/wald
expect "hagi agent lock acquire --store $work/other.db --lock-id " elsewhere/x
expect 'hagi agent lock status --server ' eu-1 us-2
expect 'hagi agent lock status --server eu-1 --game d' duckov
expect 'hagi agent lock release --owner ' sess-7f2c
expect 'hagi agent lock status --require H' Holding Holding,Queued
expect 'hagi agent lock run --lock-id a --owner b -- hag' hagi

: >"$work/answers"
set --
while IFS= read -r line; do set -- "$@" "$line"; done <"$lines_file"
offered "$@" >"$work/answers" 2>"$work/complaints"
if [ -s "$work/complaints" ]; then
  cat "$work/complaints" >&2
  broken=1
fi

number=0
for line in "$@"; do
  number=$((number + 1))
  got=$(group "$number")
  wanted=$(cat "$work/wanted.$number")
  [ "$got" = "$wanted" ] || {
    printf '%s: "%s"\n  wanted %s\n  got    %s\n' "$shell" "$line" "$wanted" "$got" >&2
    broken=1
  }
done
exit "$broken"
