#!/bin/sh
# twice.sh SOURCES BUILD: a second build of the same sources, in another folder, gives packages of the same bytes.
set -eu
. "$(dirname "$0")/common.sh"
in_long_runs_only

export SOURCE_DATE_EPOCH=1700000000
"$source_tree/packaging/make.sh" "$build" "$folder/one"

other=$folder/some/other/place
mkdir -p "$other"
(cd "$source_tree" && tar --exclude=./build --exclude=./.git -cf - .) | tar -C "$other" -xf -
cmake -S "$other" -B "$other/build" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DHAGI_STATIC=ON \
  -DHAGI_BUILD_TESTS=OFF >"$folder/log" || fail "$(cat "$folder/log")"
cmake --build "$other/build" --target hagi >"$folder/log" || fail "$(tail -30 "$folder/log")"
"$other/packaging/make.sh" "$other/build" "$folder/two"

cmp "$build/hagi" "$other/build/hagi" || fail "the second build gives another program"
diff "$folder/one/SHA256SUMS" "$folder/two/SHA256SUMS" || fail "the second build gives other packages"
