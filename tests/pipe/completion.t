#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What bash, zsh and fish offer while a command is typed: what the help of each program has.

. "$(dirname "$0")/../lib.sh"

t_need zsh fish
completion=$ROOT/scripts/completion

vtrace help | sed -nE 's/^  ([a-z]+) .*/\1/p' >subcommands
vtrace help | sed -nE 's/^  [a-z]+ +(v[a-z]+) .*/\1/p' | sort >links
vprof --help | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\2/p' >options
t_is "subcommands are there to compare with" "$(wc -l <subcommands)" \
	"$(find "$ROOT/cmd/common" "$ROOT/cmd" -name programs.h -exec grep -c '^int cmd_' {} +)"

# The words that a shell offers, one to a line, for a command line as typed so far.
cat >offer.bash <<'EOT'
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_vtrace
printf '%s\n' "${COMPREPLY[@]}"
EOT
# What zsh's own functions are handed; matching is theirs.
cat >offer.zsh <<'EOT'
_describe() { eval 'print -rl -- "${'$2'[@]%%:*}"' | grep -e "^$PREFIX"; }
_files() { print -r -- files; }
file=$1
shift
words=("$@") CURRENT=$# PREFIX=${@[-1]}
source $file
EOT
offer_bash() { bash offer.bash "$completion/vtrace.bash" "$@"; }
offer_zsh() { zsh -f offer.zsh "$completion/_vtrace" "$@"; }
offer_fish()
{
	fish --no-config -c "source '$completion/vtrace.fish'; complete -C'$*'" | cut -f 1
}

for shell in bash zsh fish; do
	offer=offer_$shell
	t_is "$shell: subcommands" "$($offer vtrace "" | grep -vx help | sort)" "$(sort subcommands)"
	t_is "$shell: one that is begun" "$($offer vtrace pr)" prof
	t_is "$shell: help for one" "$($offer vtrace help re | sort)" "$(grep ^re subcommands | sort)"
	t_is "$shell: options" "$($offer vprof -- | sort)" "$(sort options)"
	t_is "$shell: one that is begun" "$($offer vprof --di)" --diff
	t_is "$shell: of a subcommand" "$($offer vtrace prof --di)" --diff
done
t_is "zsh: files" "$(offer_zsh vprof pe)" files
t_is "bash: files, as without completion" "$(offer_bash vprof pe)" ""

# Each program is named where a shell looks for what it completes.
t_is "bash: programs" "$(sed -n '/^complete/,$ p' "$completion/vtrace.bash" | grep -o '\bv[a-z]*' |
	grep -vx vtrace | sort)" "$(cat links)"
t_is "zsh: programs" "$(head -n 1 "$completion/_vtrace" | grep -o '\bv[a-z]*' | grep -vx vtrace | sort)" \
	"$(cat links)"
t_is "fish: programs" "$(sed -n '/^for program/,/^ *complete/ p' "$completion/vtrace.fish" |
	grep -v complete | grep -o '\bv[a-z]*' | grep -vx vtrace | sort)" "$(cat links)"

t_done
