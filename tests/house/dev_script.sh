#!/bin/sh
# dev_script.sh ROOT: `./dev help` names every subcommand that the script knows, a wrong one is refused, and CI calls
# nothing but `./dev test`.
set -eu
cd "$1"

fail() {
  echo "$1" >&2
  exit 1
}

known=$(sed -n 's/^  \([a-z]*\)) command_[a-z]* .*;;$/\1/p' dev)
for command in run test bench package check soak; do
  printf '%s\n' "$known" | grep -qx "$command" || fail "./dev has no command $command"
done
help=$(./dev help)
for command in $known help; do
  printf '%s\n' "$help" | grep -q "^  ./dev $command" || fail "./dev help does not mention $command"
done
[ "$(./dev)" = "$help" ] || fail "./dev alone must show the help"
if ./dev no-such-command >/dev/null 2>&1; then fail "a wrong command must fail"; fi

called=$(grep -v -e '^#' -e '^$' -e '^set ' .ci/run)
# shellcheck disable=SC2016 # the text of the script, unexpanded
[ "$called" = 'exec "$(dirname "$0")/../dev" test' ] || fail ".ci/run does more than ./dev test: $called"
