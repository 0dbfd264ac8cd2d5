#!/bin/sh
# npm.sh SOURCES BUILD: npm installs the package without a network, its command is the program, and npm pack makes of
# the folder what is in our archive.
set -eu
. "$(dirname "$0")/common.sh"
command -v npm >/dev/null || skip "no npm here"

"$source_tree/packaging/make.sh" "$build" "$folder/out"
archive=$(echo "$folder"/out/hagi-*[0-9].tgz)
export HOME="$folder" npm_config_cache="$folder/cache" npm_config_update_notifier=false
npm() { command npm --offline --no-audit --no-fund --loglevel=error "$@"; }

mkdir "$folder/project"
cd "$folder/project"
npm init -y >/dev/null
npm install "$archive" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
check_takes_turns "$folder/project/node_modules/.bin/hagi"
[ "$(npx --offline hagi --version)" = "$("$build/hagi" --version)" ] || fail "npx does not run it"
npm uninstall hagi >/dev/null
[ ! -e node_modules/.bin/hagi ] || fail "npm leaves the command behind"

npm install --global --prefix "$folder/global" "$archive" >/dev/null
check_takes_turns "$folder/global/bin/hagi"
for page in "$source_tree"/man/*.1; do
  [ -e "$folder/global/share/man/man1/$(basename "$page")" ] || fail "npm installs no $page"
done

cd "$folder"
packed=$(npm pack --silent "$folder/out/npm")
tar -tzf "$packed" | sort >"$folder/theirs"
tar -tzf "$archive" | grep -v '/$' | sort >"$folder/ours"
diff "$folder/ours" "$folder/theirs" || fail "npm pack makes another archive than ours (<)"
