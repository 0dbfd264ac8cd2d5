# Completion of hagi for bash. Lock ids come from the store, the owner from the environment.

# What the store knows, one lock id a line. A store that is busy or absent completes nothing, quietly and at once.
_hagi_lock_ids() {
    local -a named=()
    [[ -n $2 ]] && named=(--store "$2")
    "$1" agent lock list --all --json --busy-timeout 1 "${named[@]}" 2>/dev/null |
        sed 's/"lockId":"/\n&/g' | sed -n 's/^"lockId":"\([^"]*\)".*/\1/p'
}

# The options of a verb, or of mcp.
_hagi_options() {
    local address='--lock-id --server --game --owner'
    local common='--json --store --busy-timeout --help'
    local answer="--quiet --print $common"
    case $1 in
        accept) echo "$address --epoch --min-left $answer" ;;
        acquire)
            echo "$address --label --wait --timeout --keep-place --no-queue --require --lease-seconds --max-hold" \
                "--phase --note --stuck-after $answer"
            ;;
        doctor) echo "--convert-to-shared --rebuild --rebuild-to --prune-idle --probe-lock $common" ;;
        guide) echo "--skill $common" ;;
        heartbeat)
            echo "$address --epoch --interval --lease-seconds --phase --note --while-pid --verbose --stuck-after" \
                "$common"
            ;;
        list) echo "--prefix --all --format --sort --watch --stuck-after $common" ;;
        mcp) echo "--heartbeat --store --busy-timeout --help" ;;
        log) echo "--lock-id --owner --prefix --since --limit --follow --chart $common" ;;
        nudge) echo "$address --reason $answer" ;;
        release) echo "$address --epoch $answer" ;;
        renew) echo "$address --epoch --lease-seconds --phase --note $answer" ;;
        requisition) echo "$address --reason --label --epoch $answer" ;;
        run)
            echo "$address --label --timeout --keep-place --no-queue --conflict-exit-code --epoch --lease-seconds" \
                "--max-hold --interval --kill-after --phase --note --stuck-after --quiet $common"
            ;;
        status) echo "$address --wait-seconds --require --stuck-after $answer" ;;
        stop) echo "$address --reason --epoch $answer" ;;
    esac
}

# _hagi_values OPTION VALUE HAGI STORE: fills COMPREPLY; fails where OPTION takes no value.
_hagi_values() {
    local words=
    case $1 in
        --lock-id) words=$(_hagi_lock_ids "$3" "$4") ;;
        --server | --prefix) words=$(_hagi_lock_ids "$3" "$4" | sed -n 's|/.*||p' | sort -u) ;;
        --game) words=$(_hagi_lock_ids "$3" "$4" | sed -n 's|^[^/]*/||p' | sort -u) ;;
        --owner) words="$HAGI_LOCK_OWNER $HAGI_SESSION_ID" ;;
        --require) words='Holding Holding,Queued' ;;
        --lease-seconds) words='30 60 120 300 600' ;;
        --interval) words='10 20 40 60 120' ;;
        --timeout) words='0 60 300 900 3600' ;;
        --max-hold) words='600 3600 86400' ;;
        --min-left) words='60 120 300' ;;
        --wait-seconds) words='0 5 25' ;;
        --format) words='table json tsv' ;;
        --sort) words='lock holder phase held age left queue' ;;
        --print) words='status epoch position queueLength holder.owner windows.validUntil' ;;
        --since) words='30m 2h 1d 7d' ;;
        --prune-idle) words='30 90 365' ;;
        --while-pid) words=$$ ;;
        --store | --rebuild-to)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$2")
            return 0
            ;;
        --epoch | --label | --phase | --note | --reason | --limit | --stuck-after | --busy-timeout | --kill-after | \
            --conflict-exit-code | -E) ;;
        *) return 1 ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}

_hagi() {
    local line=${COMP_LINE:0:COMP_POINT} current previous store='' i
    local -a words
    # COMP_WORDS breaks words at : and =, which lock ids and --option=value contain.
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    current=${words[-1]}
    previous=${words[-2]}
    COMPREPLY=()
    case ${#words[@]} in
        2) mapfile -t COMPREPLY < <(compgen -W 'agent mcp help --help --version' -- "$current") ;;
        3) [[ ${words[1]} == agent ]] && mapfile -t COMPREPLY < <(compgen -W 'lock help --help' -- "$current") ;;
    esac
    local verb options
    if ((${#words[@]} > 2)) && [[ ${words[1]} == mcp ]]; then
        verb=mcp options=2
    elif ((${#words[@]} > 3)) && [[ ${words[1]} == agent && ${words[2]} == lock ]]; then
        verb=${words[3]} options=4
    else
        return 0
    fi
    if ((${#words[@]} == 4 && options == 4)); then
        mapfile -t COMPREPLY < <(compgen -W 'accept acquire doctor guide heartbeat list log nudge release renew
            requisition run status stop help --help' -- "$current")
        return 0
    fi
    for ((i = options; i < ${#words[@]} - 1; ++i)); do
        case ${words[i]} in
            --store) store=${words[i + 1]} ;;
            --store=*) store=${words[i]#*=} ;;
            --)
                # The command of `run`, and its arguments.
                if ((i == ${#words[@]} - 2)); then
                    mapfile -t COMPREPLY < <(compgen -c -- "$current")
                else
                    compopt -o default 2>/dev/null
                fi
                return 0
                ;;
        esac
    done
    if [[ $current == --*=* ]]; then
        _hagi_values "${current%%=*}" "${current#*=}" "${words[0]}" "$store"
    elif ! _hagi_values "$previous" "$current" "${words[0]}" "$store"; then
        mapfile -t COMPREPLY < <(compgen -W "$(_hagi_options "$verb")" -- "$current")
    fi

    # Readline replaces only what stands behind the last : or = of the word.
    local value=$current broken
    [[ $current == --*=* ]] && value=${current#*=}
    broken=${value%"${value##*[:=]}"}
    [[ $COMP_WORDBREAKS == *:* && -n $broken ]] && COMPREPLY=("${COMPREPLY[@]#"$broken"}")
    return 0
}

complete -F _hagi hagi
