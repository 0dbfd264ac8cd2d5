# Completion of hagi for fish. Lock ids come from the store, the owner from the environment.

# The words before the cursor, without `hagi agent lock`, when they begin so.
function __hagi_words
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test "$words[2..3]" = 'agent lock'; or return 1
    test (count $words) -gt 3; and string join \n -- $words[4..]
    return 0
end

# The verb is one of the arguments, and the command of `run` has not begun.
function __hagi_verb
    set -l words (__hagi_words); or return 1
    contains -- "$words[1]" $argv; and not contains -- -- $words
end

function __hagi_mcp
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = mcp
end

function __hagi_needs_verb
    set -l words (__hagi_words); or return 1
    test (count $words) -eq 0
end

function __hagi_needs -a count
    set -l words (commandline -opc)
    test (count $words) -eq $count; or return 1
    test $count -eq 1; or test "$words[2]" = agent
end

# The command behind --.
function __hagi_command
    set -l words (__hagi_words); or return 1
    contains -- -- $words
end

function __hagi_complete_command
    set -l words (commandline -opc)
    set -l begin (math (contains -i -- -- $words) + 1)
    complete -C (string join ' ' -- (string escape -- $words[$begin..]) (commandline -ct))
end

# A store that is busy or absent completes nothing, quietly and at once.
function __hagi_lock_ids
    set -l words (commandline -opc)
    set -l named
    for i in (seq 4 (count $words))
        switch $words[$i]
            case --store
                set named --store $words[(math $i + 1)]
            case '--store=*'
                set named $words[$i]
        end
    end
    $words[1] agent lock list --all --json --busy-timeout 1 $named 2>/dev/null |
        string match -ar '"lockId":"[^"]*"' | string replace -r '.*:"(.*)"' '$1'
end

function __hagi_owners
    string join \n -- $HAGI_LOCK_OWNER $HAGI_SESSION_ID
end

complete -c hagi -f
complete -c hagi -n '__hagi_needs 1' -a agent -d 'commands for agents'
complete -c hagi -n '__hagi_needs 1' -a mcp -d 'the locks as tools of the Model Context Protocol'
complete -c hagi -n '__hagi_needs 1' -l version -d 'print the version'
complete -c hagi -n '__hagi_needs 2' -a lock -d 'turns on a shared resource'
for count in 1 2
    complete -c hagi -n "__hagi_needs $count" -a help -d 'print what may follow'
    complete -c hagi -n "__hagi_needs $count" -s h -l help -d 'print what may follow'
end

complete -c hagi -n __hagi_needs_verb -a accept -d 'guard the start of work'
complete -c hagi -n __hagi_needs_verb -a acquire -d 'take the lock, or a place in its queue'
complete -c hagi -n __hagi_needs_verb -a doctor -d 'examine the store'
complete -c hagi -n __hagi_needs_verb -a guide -d 'the guide for agents'
complete -c hagi -n __hagi_needs_verb -a heartbeat -d 'keep the lock alive, say when it is lost'
complete -c hagi -n __hagi_needs_verb -a list -d 'who holds what, and who waits'
complete -c hagi -n __hagi_needs_verb -a log -d 'the audit trail'
complete -c hagi -n __hagi_needs_verb -a nudge -d 'ask the holder politely'
complete -c hagi -n __hagi_needs_verb -a release -d 'give the lock back, or leave its queue'
complete -c hagi -n __hagi_needs_verb -a renew -d 'one heartbeat, with progress'
complete -c hagi -n __hagi_needs_verb -a requisition -d 'take the lock at once: only by order of the user'
complete -c hagi -n __hagi_needs_verb -a run -d 'wait for the turn, run a command, release'
complete -c hagi -n __hagi_needs_verb -a status -d 'where you stand'
complete -c hagi -n __hagi_needs_verb -a stop -d 'end a hold: only by order of the user'
complete -c hagi -n __hagi_needs_verb -a help -d 'print what may follow'
complete -c hagi -n __hagi_needs_verb -s h -l help -d 'print what may follow'

complete -c hagi -n __hagi_mcp -l heartbeat -d 'keep alive what the client claimed'
complete -c hagi -n __hagi_mcp -l store -rF -d "the store's file"
complete -c hagi -n __hagi_mcp -l busy-timeout -x -d 'seconds to wait for a busy store'
complete -c hagi -n __hagi_mcp -s h -l help -d 'print the options'

complete -c hagi -n __hagi_command -xa '(__hagi_complete_command)'

# Of every verb.
set -l every accept acquire doctor guide heartbeat list log nudge release renew requisition run status stop
complete -c hagi -n "__hagi_verb $every" -l json -d 'one JSON document instead of text'
complete -c hagi -n "__hagi_verb $every" -l store -rF -d "the store's file"
complete -c hagi -n "__hagi_verb $every" -l busy-timeout -x -d 'seconds to wait for a busy store'
complete -c hagi -n "__hagi_verb $every" -s h -l help -d 'print the options'

# Of every verb that answers with a standing.
set -l answers accept acquire nudge release renew requisition status stop
complete -c hagi -n "__hagi_verb $answers run" -l quiet -d 'nothing but what went wrong'
complete -c hagi -n "__hagi_verb $answers" -l print -d 'only these fields of the answer' \
    -xa 'status epoch position queueLength holder.owner windows.validUntil'

# Of every verb about one lock.
set -l about_lock accept acquire heartbeat nudge release renew requisition run status stop
complete -c hagi -n "__hagi_verb $about_lock log" -l lock-id -xa '(__hagi_lock_ids)' -d 'the lock'
complete -c hagi -n "__hagi_verb $about_lock log" -l owner -xa '(__hagi_owners)' -d 'your own session id'
complete -c hagi -n "__hagi_verb $about_lock" -l server -d 'with --game: the lock SERVER/GAME' \
    -xa '(__hagi_lock_ids | string replace -rf "/.*" "" | sort -u)'
complete -c hagi -n "__hagi_verb $about_lock" -l game -d 'with --server: the lock SERVER/GAME' \
    -xa '(__hagi_lock_ids | string replace -rf "^[^/]*/" "" | sort -u)'

complete -c hagi -n '__hagi_verb accept heartbeat release renew requisition run stop' -l epoch -x -d 'only this grant'
complete -c hagi -n '__hagi_verb accept' -l min-left -xa '60 120 300' -d 'refuse when less is left'
complete -c hagi -n '__hagi_verb acquire requisition run' -l label -x -d 'what the lock is wanted for'
complete -c hagi -n '__hagi_verb acquire' -l wait -d 'wait for the turn'
complete -c hagi -n '__hagi_verb acquire run' -l timeout -xa '0 60 300 900 3600' -d 'how long to wait'
complete -c hagi -n '__hagi_verb acquire run' -l keep-place -d 'keep the place at the timeout'
complete -c hagi -n '__hagi_verb acquire run' -l no-queue -d 'exit 29 if the lock is not free'
complete -c hagi -n '__hagi_verb acquire status' -l require -xa 'Holding Holding,Queued' -d 'what counts as success'
complete -c hagi -n '__hagi_verb acquire heartbeat renew run' -l lease-seconds -xa '30 60 120 300 600' -d 'the lease'
complete -c hagi -n '__hagi_verb acquire run' -l max-hold -xa '600 3600 86400' -d 'a nearer hard cap'
complete -c hagi -n '__hagi_verb acquire heartbeat renew run' -l phase -x -d 'what the work is at'
complete -c hagi -n '__hagi_verb acquire heartbeat renew run' -l note -x -d 'a note on progress'
complete -c hagi -n '__hagi_verb acquire heartbeat list run status' -l stuck-after -x -d 'when a phase is shown as stuck'
complete -c hagi -n '__hagi_verb heartbeat run' -l interval -xa '10 20 40 60 120' -d 'between beats'
complete -c hagi -n '__hagi_verb heartbeat' -l while-pid -xa '$fish_pid' -d 'end with this process'
complete -c hagi -n '__hagi_verb heartbeat' -l verbose -d 'a line for every beat'
complete -c hagi -n '__hagi_verb run' -s E -l conflict-exit-code -x -d 'in place of 29, 30 and 31'
complete -c hagi -n '__hagi_verb run' -l kill-after -x -d 'from SIGTERM to SIGKILL'
complete -c hagi -n '__hagi_verb nudge requisition stop' -l reason -x -d 'why, in words that the holder reads'
complete -c hagi -n '__hagi_verb status' -l wait-seconds -xa '0 5 25' -d 'return when something changes'
complete -c hagi -n '__hagi_verb list log' -l prefix -d 'only locks whose id begins so' \
    -xa '(__hagi_lock_ids | string replace -rf "/.*" "" | sort -u)'
complete -c hagi -n '__hagi_verb list' -l all -d 'also locks that are idle'
complete -c hagi -n '__hagi_verb list' -l format -xa 'table json tsv' -d 'of the list'
complete -c hagi -n '__hagi_verb list' -l sort -xa 'lock holder phase held age left queue' -d 'by which column'
complete -c hagi -n '__hagi_verb list' -l watch -d 'a live view'
complete -c hagi -n '__hagi_verb log' -l chart -d 'who held it when, as bars'
complete -c hagi -n '__hagi_verb log' -l since -xa '30m 2h 1d 7d' -d 'only what came after'
complete -c hagi -n '__hagi_verb log' -l limit -x -d 'the newest so many'
complete -c hagi -n '__hagi_verb log' -l follow -d 'go on with each new event'
complete -c hagi -n '__hagi_verb guide' -l skill -d 'the skill file'
complete -c hagi -n '__hagi_verb doctor' -l convert-to-shared -d 'give the store the journal that hosts can share'
complete -c hagi -n '__hagi_verb doctor' -l rebuild -d 'copy what can be read of a damaged store'
complete -c hagi -n '__hagi_verb doctor' -l rebuild-to -rF -d 'where to'
complete -c hagi -n '__hagi_verb doctor' -l prune-idle -xa '30 90 365' -d 'forget locks that are long idle'
complete -c hagi -n '__hagi_verb doctor' -l probe-lock -d 'try out locks between machines'
