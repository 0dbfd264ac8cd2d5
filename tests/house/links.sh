#!/bin/sh
# links.sh FACTS: exits 1 where a layer links more than it may. FACTS holds one line a target, written when the build
# was configured: "target: library library ...".
set -eu

exec awk -F ': *' '
BEGIN {
    always = " hagi_settings hagi_small hagi_warnings "
    may["hagi_rules"] = always
    may["hagi_memory"] = always "hagi_rules "
    may["hagi_platform"] = always "hagi_rules "
    may["hagi_sqlite"] = always "hagi_rules hagi_platform SQLite::SQLite3 "
}
$1 in may {
    seen[$1] = 1
    count = split($0, libraries, /[ ;]+/)
    for (i = 2; i <= count; ++i) {
        if (libraries[i] == "" || index(may[$1], " " libraries[i] " ")) continue
        printf "%s links %s\n", $1, libraries[i]
        broken = 1
    }
}
END {
    for (target in may) if (!(target in seen)) { printf "nothing is known of %s\n", target; broken = 1 }
    exit broken
}
' "$1"
