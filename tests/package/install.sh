#!/bin/sh
# install.sh SOURCES BUILD: `cmake --install` puts everything where its readers look, readable by all.
set -eu
. "$(dirname "$0")/common.sh"

umask 022
DESTDIR=$folder/root cmake --install "$build" --prefix /usr/local >"$folder/log" || fail "$(cat "$folder/log")"
root=$folder/root/usr/local

expected() {
  echo bin/hagi
  echo share/hagi/hagi-agent-lock.schema.json
  for name in README.md CHANGELOG.md LICENSE; do echo "share/doc/hagi/$name"; done
  (cd "$source_tree/tests/cli" && find examples -type f) | sed 's|^|share/doc/hagi/|'
  (cd "$source_tree" && find man -name '*.1' 2>/dev/null) | sed 's|^man/|share/man/man1/|'
  (cd "$source_tree" && find skills -type f 2>/dev/null) | sed 's|^|share/hagi/|'
  (cd "$source_tree" && find completions -name 'hagi.*' 2>/dev/null) | sed \
    -e 's|^completions/hagi.bash|share/bash-completion/completions/hagi|' \
    -e 's|^completions/hagi.zsh|share/zsh/site-functions/_hagi|' \
    -e 's|^completions/hagi.fish|share/fish/vendor_completions.d/hagi.fish|'
}
expected | LC_ALL=C sort >"$folder/expected"
(cd "$root" && find . -type f | sed 's|^\./||') | LC_ALL=C sort >"$folder/installed"
diff "$folder/expected" "$folder/installed" || fail "installed is not what was expected (<)"

check_modes "$folder/root"
[ -x "$root/bin/hagi" ] || fail "the program cannot be executed"
check_takes_turns "$root/bin/hagi"
