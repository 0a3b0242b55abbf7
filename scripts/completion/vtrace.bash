# SPDX-License-Identifier: GPL-3.0-or-later
# Completes subcommands, options and files in bash, from the help that each program prints.

_vtrace()
{
	local cur=${COMP_WORDS[COMP_CWORD]} program=("${COMP_WORDS[0]}") at=1 words

	COMPREPLY=()
	if [[ ${program[0]##*/} == vtrace ]]; then
		[[ ${COMP_WORDS[1]} == help ]] && at=2
		if ((COMP_CWORD <= at)) && [[ $cur != -* ]]; then
			words=$("${program[0]}" help 2>/dev/null |
				sed -nE 's/^  ([a-z]+) .*/\1/p')
			((at == 1)) && words+=" help"
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
			return
		fi
		((COMP_CWORD > 1)) && program+=("${COMP_WORDS[1]}")
	fi
	[[ $cur == -* ]] || return
	words=$("${program[@]}" --help 2>/dev/null | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\2/p')
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o default -F _vtrace vtrace vcmp vcoproc vculprit vdb vevent vexport vflame vfreq vhot vinterp vinv vlist vmem \
	vpair vpath vprof vreplay vsample vsim vspec vstats
