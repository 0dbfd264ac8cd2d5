#!/bin/sh
# layering_bites.sh LAYERING_SH: plants one breach after the other in a small tree; the checker must see each one,
# and must let pass what is allowed.
set -eu
checker=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

# checked FILE LINE: what the checker says of a tree whose only file has that line.
checked() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/lockcore/sqlite" "$tree/platform" "$tree/cmd"
  printf '%s\n' "$2" >"$tree/$1"
  sh "$checker" "$tree" 2>&1
}

breach() {
  if said=$(checked "$1" "$2"); then
    echo "not seen: $1: $2"
    failed=1
  else
    case $said in
      "$1:1: "*) ;;
      *)
        echo "$1: $2: it said: $said"
        failed=1
        ;;
    esac
  fi
}

allowed() {
  if ! said=$(checked "$1" "$2"); then
    echo "wrongly a breach: $said"
    failed=1
  fi
}

breach lockcore/rules.cpp '#include <sqlite3.h>'
breach lockcore/rules.cpp '#include <nlohmann/json.hpp>'
breach lockcore/rules.cpp '#include <fmt/core.h>'
breach lockcore/rules.cpp '#include <CLI/CLI.hpp>'
breach lockcore/rules.cpp '#include <unistd.h>'
breach lockcore/rules.cpp '#include <sys/stat.h>'
breach lockcore/rules.cpp '#  include <ctime>'
breach lockcore/rules.cpp '#include "platform/paths.hpp"'
breach lockcore/rules.cpp '#include "lockcore/sqlite/engine.hpp"'
breach lockcore/rules.cpp '#include "lockcore/engine.hpp"'
breach lockcore/memory_engine.cpp '#include "cmd/text.hpp"'
breach lockcore/windows.hpp 'inline auto now() { return std::chrono::system_clock::now(); }'
breach lockcore/windows.hpp 'using Clock = std::chrono::steady_clock;'
breach lockcore/rules.cpp 'void f() { std::printf("x"); }'
breach lockcore/sqlite/engine.cpp 'void f() { std::cerr << 1; }'
breach lockcore/sqlite/engine.cpp 'void f() { fmt::print("x"); }'
breach lockcore/sqlite/engine.cpp '#include <fmt/core.h>'
breach lockcore/sqlite/engine.cpp '#include "cmd/context.hpp"'
breach lockcore/sqlite/engine.cpp 'void f() { std::exit(1); }'
breach platform/paths.cpp '    puts("x");'
breach platform/paths.cpp '#include "lockcore/rules.hpp"'
breach platform/paths.cpp '#include "lockcore/engine.hpp"'
breach platform/paths.cpp '#include "lockcore/sqlite/schema.hpp"'
breach platform/paths.cpp '#include <sqlite3.h>'
breach cmd/status.cpp '#include <sqlite3.h>'
breach cmd/status.cpp '#include "lockcore/sqlite/engine.hpp"'
breach cmd/status.cpp '    exit(1);'

allowed lockcore/rules.cpp '#include <vector>  // no printf( here'
allowed lockcore/rules.cpp '// system_clock is for the machine'
allowed lockcore/types.hpp '#include <chrono>'
allowed lockcore/rules.cpp '#include "lockcore/windows.hpp"'
allowed lockcore/memory_engine.hpp '#include "lockcore/engine.hpp"'
allowed lockcore/sqlite/engine.cpp '#include <sqlite3.h>'
allowed lockcore/sqlite/engine.cpp '    std::snprintf(text, 4, "x");'
allowed platform/child_process.cpp '    _exit(127);'
allowed platform/clock.cpp '#include "lockcore/clock.hpp"'
allowed cmd/text.cpp '    std::fputs(text, stdout);'
allowed cmd/open_engine.cpp '#include "lockcore/sqlite/engine.hpp"'
allowed cmd/main.cpp '    std::exit(1);'

exit "$failed"
