# SPDX-License-Identifier: GPL-3.0-or-later
# Completes subcommands, options and files in fish, from the help that each program prints.

function __vtrace_subcommands
    vtrace help 2>/dev/null | string replace -rf '^  ([a-z]+) +(?:v[a-z]+)? *([^ ].*)$' '$1\t$2'
end

function __vtrace_options
    set -l program (commandline -poc)
    test (string replace -r ".*/" "" $program[1]) = vtrace
    and set program $program[1..2]
    or set program $program[1]
    $program --help 2>/dev/null |
        string replace -rf '^  (?:-.,|   ) (--[a-z-]+)\S*(?: \S+)?(?:  +(.*))?$' '$1\t$2'
end

complete -c vtrace -n 'test (count (commandline -poc)) -eq 1' -f -a '(__vtrace_subcommands)'
complete -c vtrace -n 'test (commandline -poc)[-1] = help' -f -a '(__vtrace_subcommands)'
for program in vtrace vcmp vcoproc vculprit vdb vevent vexport vflame vfreq vhot vinterp vinv vlist vmem vpair vpath vprof \
        vreplay vsample vsim vspec vstats
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -a '(__vtrace_options)'
end
