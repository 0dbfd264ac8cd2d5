#!/bin/sh
# packages.sh SOURCES BUILD: the packages hold a program that works and all that belongs to it, and whoever makes them
# anew gets the same bytes.
set -eu
. "$(dirname "$0")/common.sh"

"$source_tree/packaging/make.sh" "$build" "$folder/one"
sleep 1 # a time that leaks into a package is in whole seconds
(umask 077 && cd / && TZ=Asia/Tokyo LC_ALL=C "$source_tree/packaging/make.sh" "$build" "$folder/two")
diff "$folder/one/SHA256SUMS" "$folder/two/SHA256SUMS" || fail "two runs gave other bytes"
[ "$(wc -l <"$folder/one/SHA256SUMS")" -eq 3 ] || fail "expected three packages: $(ls "$folder/one")"

# ---- Debian ----
deb=$(echo "$folder"/one/*.deb)
dpkg-deb --extract "$deb" "$folder/deb"
usr=$folder/deb/usr
check_takes_turns "$usr/bin/hagi"
for file in share/hagi/hagi-agent-lock.schema.json share/doc/hagi/copyright share/doc/hagi/changelog.gz \
  share/doc/hagi/changelog.Debian.gz; do has_file "$usr/$file"; done
for page in "$source_tree"/man/*.1; do
  [ ! -e "$page" ] || has_file "$usr/share/man/man1/$(basename "$page").gz"
done
check_modes "$folder/deb"
owners=$(dpkg-deb --fsys-tarfile "$deb" | tar -tv --numeric-owner | awk '{ print $2 }' | sort -u)
[ "$owners" = 0/0 ] || fail "files in the Debian package belong to $owners"
[ -z "$(dpkg-deb --field "$deb" Depends)" ] || fail "a static program depends on nothing"
version=$("$build/hagi" --version)
[ "hagi $(dpkg-deb --field "$deb" Version)" = "$version-1" ] || fail "the Debian package is not of $version"

# ---- The archive ----
mkdir "$folder/unpacked"
tar -xzf "$folder"/one/*.tar.gz -C "$folder/unpacked" --strip-components=1
check_takes_turns "$folder/unpacked/bin/hagi"
has_file "$folder/unpacked/share/hagi/hagi-agent-lock.schema.json"

# ---- npm ----
mkdir "$folder/npm"
tar -xzf "$folder"/one/hagi-[0-9.]*[0-9].tgz -C "$folder/npm" --strip-components=1
check_takes_turns "$folder/npm/bin/hagi"
grep -q "\"version\": \"${version#hagi }\"" "$folder/npm/package.json" || fail "package.json is not of $version"
if grep -q '"scripts"' "$folder/npm/package.json"; then fail "an npm package of ours runs nothing by itself"; fi

# ---- What nobody else may see ----
if grep -aqF "$source_tree" "$build/hagi"; then fail "the program tells where it was built"; fi
