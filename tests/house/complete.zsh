# zsh -f complete.zsh COMPLETION LINE...: what zsh offers for each LINE, one candidate a line, an empty line after each.
# In a terminal of its own, since zsh completes nowhere else; compadd, through which every candidate passes, tells.
zmodload zsh/zpty
folder=$(mktemp -d)
trap 'rm -rf $folder' EXIT
cp $1 $folder/_hagi  # as it is installed
shift

inside='
PROMPT=
fpath=('${(q)folder}' $fpath)
autoload -Uz compinit
compinit -D -u
zle_highlight=(none)
unset zle_bracketed_paste
bindkey "^I" complete-word
bindkey "^J" undefined
bindkey "^M" undefined
zstyle ":completion:*" insert-tab false
finish() { print -r -- ">>>"; comppostfuncs=(finish) }
comppostfuncs=(finish)
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return $?
    fi
    local -a hits prefix
    builtin compadd -A hits "$@"
    zparseopts -E -a unused P:=prefix p:=prefix
    local hit
    for hit in $hits; do print -r -- "<offers>$IPREFIX${prefix[2]}$hit"; done
}
print ready
'
print -r -- "$inside" >$folder/start
zpty asked zsh -f -i
zpty -w asked "source $folder/start"
until zpty -r asked said && [[ $said == *ready* ]]; do :; done
for line in "$@"; do
    zpty -n -w asked $'\C-u'"$line"$'\t'
    while zpty -r asked said && [[ $said != *'>>>'* ]]; do
        [[ $said == *"<offers>"* ]] && print -r -- "${${said#*<offers>}%$'\r\n'}"
    done
    print
done
zpty -d asked
