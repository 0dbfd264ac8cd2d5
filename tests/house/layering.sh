#!/bin/sh
# layering.sh ROOT: exits 1, naming file and line, where a layer under ROOT reaches above itself:
#   lockcore/          the standard library and lockcore/ only; no clock of the machine
#   platform/          also the machine, but of lockcore/ only the seams that it implements and the plain types
#   lockcore/sqlite/   also SQLite and platform/
#   cmd/               everything but SQLite itself; only open_engine.* names a concrete engine
# and where anything but cmd/ prints, or anything but main ends the process.
set -eu
cd "$1"

files=$(find lockcore platform cmd -name '*.[ch]pp' 2>/dev/null | LC_ALL=C sort)
[ -n "$files" ] || {
  echo "layering: no sources under $1" >&2
  exit 1
}

# shellcheck disable=SC2086 # the repository's paths have no blanks
exec awk '
BEGIN {
    count = split("algorithm any array atomic bit bitset cassert cctype cerrno charconv chrono cinttypes climits " \
                  "cmath compare concepts condition_variable csignal cstddef cstdint cstdio cstdlib cstring deque " \
                  "exception filesystem forward_list fstream functional future initializer_list iomanip ios iosfwd " \
                  "iostream istream iterator limits list locale map memory mutex new numbers numeric optional " \
                  "ostream queue random ranges ratio set shared_mutex span sstream stack stdexcept streambuf string " \
                  "string_view system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set " \
                  "utility variant vector version", names, " ")
    for (i = 1; i <= count; ++i) standard["<" names[i] ">"] = 1

    # What of the standard library reaches the machine: nothing for the rules.
    count = split("atomic cerrno condition_variable csignal cstdio filesystem fstream future iostream mutex random " \
                  "shared_mutex thread", names, " ")
    for (i = 1; i <= count; ++i) machine["<" names[i] ">"] = 1

    count = split("types result clock change_signal process witness limits names", names, " ")
    for (i = 1; i <= count; ++i) seam["\"lockcore/" names[i] ".hpp\""] = 1
}

function breach(why) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, why, $0
    broken = 1
}

function layer_of(file) {
    if (file ~ /^lockcore\/sqlite\//) return "sqlite"
    if (file ~ /^lockcore\//) return "rules"
    if (file ~ /^platform\//) return "platform"
    return "cmd"
}

function is_library(header) { return header ~ /^<(sqlite3|CLI\/|nlohmann\/|fmt\/)/ }

function check_rules(header) {
    if (header ~ /^"/) {
        if (header !~ /^"lockcore\/[a-z_]+\.hpp"$/) breach("the rules include lockcore/ headers only")
        if (header ~ /\/(engine|memory_engine)\.hpp"/ && FILENAME !~ /\/(memory_)?engine\.[ch]pp$/)
            breach("the rules know no engine")
    } else if (!(header in standard) || header in machine) {
        breach("the rules include the standard library only, and of it nothing that reaches the machine")
    }
}

function check_platform(header) {
    if (is_library(header)) breach("the machine needs no library")
    if (header ~ /^"/ && header !~ /^"platform\/[a-z_]+\.hpp"$/ && !(header in seam))
        breach("the machine knows no lock rules and nothing above it")
}

function check_sqlite(header) {
    if (is_library(header) && header != "<sqlite3.h>") breach("the engine needs SQLite only")
    if (header ~ /^"/ && header !~ /^"(lockcore|lockcore\/sqlite|platform)\/[a-z_]+\.hpp"$/)
        breach("the engine includes nothing above it")
}

function check_cmd(header) {
    if (header ~ /sqlite3/) breach("the commands never see SQLite")
    if (header ~ /^"(lockcore\/sqlite\/|lockcore\/memory_engine)/ && FILENAME !~ /\/open_engine\.[ch]pp$/)
        breach("only open_engine names a concrete engine")
    if (header ~ /^"tests\//) breach("the program includes no test")
}

FNR == 1 { layer = layer_of(FILENAME) }
{ sub(/\/\/.*/, "") }

/^[ \t]*#[ \t]*include/ {
    header = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
    sub(/[ \t]+$/, "", header)
    if (layer == "rules") check_rules(header)
    else if (layer == "platform") check_platform(header)
    else if (layer == "sqlite") check_sqlite(header)
    else check_cmd(header)
    next
}

layer == "rules" && /(system_clock|steady_clock|high_resolution_clock|utc_clock|file_clock|getenv|random_device)/ {
    breach("time and environment are arguments of the rules")
}
layer != "cmd" && /(^|[^a-zA-Z0-9_.>])(v?[fd]?printf|puts|fputs|putchar|fputc|perror)[ \t]*\(/ {
    breach("only cmd/ prints")
}
layer != "cmd" && /(std::(cout|cerr|clog|wcout|wcerr)|fmt::(print|println)|STDOUT_FILENO|STDERR_FILENO)/ {
    breach("only cmd/ prints")
}
FILENAME != "cmd/main.cpp" && /(^|[^a-zA-Z0-9_.>])(exit|quick_exit)[ \t]*\(/ { breach("only main ends the process") }

END { exit broken }
' $files
