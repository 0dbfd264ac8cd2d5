#!/bin/sh
# install_clients.sh SOURCES FOLDER: installs the pinned clients into FOLDER, unless they are there already.
set -eu
sources=$1
folder=$2
mkdir -p "$folder"
cd "$folder"
cp "$sources/package.json" "$sources/clients_test.mjs" .
if [ ! -e installed ] || ! cmp -s "$sources/package-lock.json" package-lock.json; then
  rm -rf installed node_modules
  cp "$sources/package-lock.json" .
  # Nothing of what is installed may run while it is being installed.
  npm ci --ignore-scripts --no-audit --no-fund --no-progress
  # The inspector's command line reads the package.json of the inspector around it, which is not here.
  cp node_modules/@modelcontextprotocol/inspector-cli/package.json node_modules/@modelcontextprotocol/
  : >installed
fi
