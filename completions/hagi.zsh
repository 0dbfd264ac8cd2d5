#compdef hagi
# Completion of hagi for zsh. Lock ids come from the store, the owner from the environment.

# A store that is busy or absent completes nothing, quietly and at once.
_hagi_ids() {
    local -a named
    [[ -n ${opt_args[--store]} ]] && named=(--store ${opt_args[--store]})
    ${words[1]} agent lock list --all --json --busy-timeout 1 $named 2>/dev/null |
        sed 's/"lockId":"/\n&/g' | sed -n 's/^"lockId":"\([^"]*\)".*/\1/p'
}

_hagi_lock_ids() {
    local -a ids=(${(f)"$(_hagi_ids)"})
    _wanted locks expl 'lock id' compadd -a ids
}

_hagi_servers() {
    local -aU servers=(${${(M)${(f)"$(_hagi_ids)"}:#*/*}%%/*})
    _wanted servers expl server compadd -a servers
}

_hagi_games() {
    local -aU games=(${${(M)${(f)"$(_hagi_ids)"}:#*/*}#*/})
    _wanted games expl game compadd -a games
}

_hagi_owners() {
    local -aU owners=($HAGI_LOCK_OWNER $HAGI_SESSION_ID)
    _wanted owners expl owner compadd -a owners
}

# Behind --: another command, with its own completion.
_hagi_command() {
    [[ $words[1] == -- ]] && { shift words; ((CURRENT--)) }
    _normal
}

_hagi_verbs() {
    local -a verbs=(
        'accept:guard the start of work'
        'acquire:take the lock, or a place in its queue'
        'doctor:examine the store'
        'guide:the guide for agents'
        'heartbeat:keep the lock alive, say when it is lost'
        'list:who holds what, and who waits'
        'log:the audit trail'
        'nudge:ask the holder politely'
        'release:give the lock back, or leave its queue'
        'renew:one heartbeat, with progress'
        'requisition:take the lock at once\: only by order of the user'
        'run:wait for the turn, run a command, release'
        'status:where you stand'
        "stop:end a hold\: only by order of the user"
        'help:print what may follow'
    )
    _describe -t verbs verb verbs
}

_hagi_options() {
    local -a basic=(
        "--store=[the store's file]:store:_files"
        '--busy-timeout=[seconds to wait for a busy store]:seconds:'
        '(-h --help)'{-h,--help}'[print the options]'
    )
    local -a common=('--json[one JSON document instead of text]' $basic)
    local -a address=(
        '(--server --game)--lock-id=[the lock]:lock id:_hagi_lock_ids'
        '(--lock-id)--server=[with --game\: the lock SERVER/GAME]:server:_hagi_servers'
        '(--lock-id)--game=[with --server\: the lock SERVER/GAME]:game:_hagi_games'
        '--owner=[your own session id]:owner:_hagi_owners'
    )
    local -a progress=(
        '--phase=[what the work is at]:phase:'
        '--note=[a note on progress]:note:'
    )
    local quiet='(--json --print)--quiet[nothing but what went wrong]'
    local -a answer=(
        $quiet
        '(--json --quiet)--print=[only these fields of the answer]:field:(status epoch position queueLength holder.owner
            windows.validUntil)'
        $common
    )
    local epoch='--epoch=[only this grant]:epoch:'
    local label='--label=[what the lock is wanted for]:label:'
    local reason='--reason=[why, in words that the holder reads]:reason:'
    local lease='--lease-seconds=[the lease]:seconds:(30 60 120 300 600)'
    local stuck='--stuck-after=[when a phase is shown as stuck]:seconds:'
    local require='--require=[what counts as success]:standing:(Holding Holding,Queued)'
    local interval='--interval=[between beats]:seconds:(10 20 40 60 120)'
    local prefix='--prefix=[only locks whose id begins so]:prefix:_hagi_servers'
    local -a waiting=(
        '--timeout=[how long to wait]:seconds:(0 60 300 900 3600)'
        '--keep-place[keep the place at the timeout]'
        '--no-queue[exit 29 if the lock is not free]'
        '--max-hold=[a nearer hard cap]:seconds:(600 3600 86400)'
    )

    case $1 in
        accept) _arguments -s $address $epoch '--min-left=[refuse when less is left]:seconds:(60 120 300)' $answer ;;
        acquire)
            _arguments -s $address $label '--wait[wait for the turn]' $waiting $require $lease $progress $stuck $answer
            ;;
        doctor)
            _arguments -s \
                '--convert-to-shared[give the store the journal that hosts can share]' \
                '--rebuild[copy what can be read of a damaged store]' \
                '--rebuild-to=[where to]:file:_files' \
                '--prune-idle=[forget locks that are long idle]:days:(30 90 365)' \
                '--probe-lock[try out locks between machines]' $common
            ;;
        guide) _arguments -s '--skill[the skill file]' $common ;;
        heartbeat)
            _arguments -s $address $epoch $interval $lease $progress \
                '--while-pid=[end with this process]:process:_pids' '--verbose[a line for every beat]' $stuck $common
            ;;
        list)
            _arguments -s $prefix '--all[also locks that are idle]' '(--json)--format=[of the list]:form:(table json tsv)' \
                '--sort=[by which column]:column:(lock holder phase held age left queue)' '--watch[a live view]' $stuck \
                $common
            ;;
        log)
            _arguments -s '--lock-id=[only this lock]:lock id:_hagi_lock_ids' \
                '--owner=[only what is by or about it]:owner:_hagi_owners' $prefix \
                '--since=[only what came after]:time:(30m 2h 1d 7d)' '--limit=[the newest so many]:number:' \
                '(--chart)--follow[go on with each new event]' '(--follow --json)--chart[who held it when, as bars]' $common
            ;;
        mcp) _arguments -s '--heartbeat[keep alive what the client claimed]' $basic ;;
        nudge) _arguments -s $address $reason $answer ;;
        release) _arguments -s $address $epoch $answer ;;
        renew) _arguments -s $address $epoch $lease $progress $answer ;;
        requisition) _arguments -s $address $reason $label $epoch $answer ;;
        run)
            _arguments -s $address $label $waiting $epoch $lease $interval \
                '(-E --conflict-exit-code)'{-E,--conflict-exit-code=}'[in place of 29, 30 and 31]:exit code:' \
                '--kill-after=[from SIGTERM to SIGKILL]:seconds:' $progress $stuck $quiet $common '*::command:_hagi_command'
            ;;
        status)
            _arguments -s $address '--wait-seconds=[return when something changes]:seconds:(0 5 25)' $require $stuck \
                $answer
            ;;
        stop) _arguments -s $address $reason $epoch $answer ;;
    esac
}

_hagi() {
    local -A opt_args
    if ((CURRENT == 2)); then
        local -a first=('agent:commands for agents' 'mcp:the locks as tools of the Model Context Protocol' 'help:print what may follow' '--help:print what may follow'
            '--version:print the version')
        _describe -t commands command first
    elif ((CURRENT == 3)) && [[ $words[2] == agent ]]; then
        local -a second=('lock:turns on a shared resource' 'help:print what may follow')
        _describe -t commands command second
    elif [[ $words[2] == agent && $words[3] == lock ]]; then
        ((CURRENT == 4)) && { _hagi_verbs; return }
        local verb=$words[4] program=$words[1]
        words=("$program" "${(@)words[5,-1]}")  # the last one may be empty, and counts
        ((CURRENT -= 3))
        _hagi_options $verb
    elif [[ $words[2] == mcp ]]; then
        words=("$words[1]" "${(@)words[3,-1]}")
        ((CURRENT -= 1))
        _hagi_options mcp
    fi
}

# Loaded by its name, or sourced by hand.
if [[ $funcstack[1] == _hagi ]]; then
    _hagi "$@"
else
    compdef _hagi hagi
fi
