#!/bin/sh
# make.sh BUILD OUT: makes the packages of a finished release build: OUT/*.deb, OUT/hagi-VERSION-linux-CPU.tar.gz (unpack
# it into /usr/local), OUT/hagi-VERSION.tgz (npm install it) and the folder it is made of, OUT/npm, and SHA256SUMS.
# The same sources give the same bytes, whoever builds them, where and when: SOURCE_DATE_EPOCH is the last commit's
# time unless it is set.
set -eu

build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
CDPATH='' cd -- "$(dirname -- "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^set(CPACK_PACKAGE_VERSION "\(.*\)")$/\1/p' "$build/CPackConfig.cmake")
[ -n "$version" ] || {
  echo "make.sh: no version in $build/CPackConfig.cmake: configure the build first" >&2
  exit 1
}

# packed FOLDER TARGET <nothing: all of FOLDER's parent's FOLDER, by name, of nobody's, of one time.
packed() {
  tar -C "$(dirname "$1")" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --format=ustar -cf - "$(basename "$1")" | gzip -9n >"$2"
}

# ---- Debian ----
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/deb" >"$work/cpack.log" 2>&1 || {
  cat "$work/cpack.log" >&2
  exit 1
}
mv "$work"/deb/*.deb "$out/"

# ---- The archive ----
name=hagi-$version-linux-$(uname -m)
cmake --install "$build" --prefix "$work/$name" >/dev/null
packed "$work/$name" "$out/$name.tar.gz"

# ---- npm: no script runs at its installation, and nothing is fetched; the command is the program itself ----
package=$work/package
mkdir -p "$package/bin" "$package/schema"
cp "$build/packaging/package.json" README.md CHANGELOG.md LICENSE "$package/"
cp "$build/hagi" "$package/bin/hagi"
cp schema/*.json "$package/schema/"
cp -R man skills "$package/"
chmod -R u=rwX,go=rX "$package"
packed "$package" "$out/hagi-$version.tgz"
rm -rf "$out/npm"
mv "$package" "$out/npm"

(cd "$out" && sha256sum -- *.deb *.tar.gz *.tgz >SHA256SUMS)
