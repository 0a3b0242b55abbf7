#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every program opens every input: a recorded trace gives what `vtrace decode` before it would give,
# with the same exit status; what an input is, its first bytes tell, not its name.

. "$(dirname "$0")/../lib.sh"

demo=$ROOT/tests/data/demo
cp "$demo/perf.data" "$demo/regs.data" .
chmod u+w ./*.data
vtrace decode perf.data -o heat.vt
vtrace decode regs.data -o regs.vt

# same NAME TRACE STREAM COMMAND...: with FILE in it for the input.
same()
{
	local name=$1 trace=$2 stream=$3 status
	shift 3
	t_run "${@/#FILE/$stream}"
	status=$T_STATUS
	cp "$T_OUT" want
	t_status "$name opens $trace as it opens the stream" "$status" "${@/#FILE/$trace}"
	sed "/^META/! s/$trace/$stream/g" "$T_OUT" >got
	t_same "and prints the same" want got
}
s=(--symfs "$demo/symfs")
for data in perf.data regs.data; do
	vt=heat.vt
	[ $data = perf.data ] || vt=regs.vt
	same "vprof" $data $vt vprof "${s[@]}" FILE
	same "vprof --json" $data $vt vprof --json "${s[@]}" FILE
	same "vlist" $data $vt vlist "${s[@]}" -i FILE chase
	same "vlist FILE PROC" $data $vt vlist "${s[@]}" FILE chase
	same "vlist --top" $data $vt vlist "${s[@]}" --top 2 FILE
	same "vtrace dump" $data $vt vtrace dump FILE
	same "vstats" $data $vt vstats "${s[@]}" FILE FILE
done
same "vprof --diff" perf.data heat.vt vprof --diff "${s[@]}" FILE FILE
same "vinterp --summary" regs.data regs.vt vinterp -l 4 "${s[@]}" --summary FILE
same "vfreq --json" perf.data heat.vt vfreq --clock 2.5 "${s[@]}" --top 5 FILE
# shellcheck disable=SC2016 # of the inner shell
same "vdb list" perf.data heat.vt sh -c 'rm -f x.vdb; vdb -d x.vdb add "$0" && vdb -d x.vdb list --by profile' FILE

# Streams that are written have the decoder as a stage.
records()
{
	vtrace dump "$1"
}
for command in "vinterp -l 4 ${s[*]}" "vtrace merge" "vsample -n 3"; do
	# shellcheck disable=SC2086 # words
	t_run $command regs.vt -o want.vt
	status=$T_STATUS
	# shellcheck disable=SC2086
	t_status "$command writes a stream of a trace" "$status" $command regs.data -o got.vt
	[ "$status" -le 1 ] || continue
	t_is "with the same records" "$(records got.vt)" "$(records want.vt)"
	t_is "and the decoder before it" "$(vtrace info --json got.vt | jq -r '.provenance[0] | "\(.program) \(.args | join(" "))"')" \
		"vtrace decode regs.data"
done

# Other ways in.
vprof "${s[@]}" heat.vt >want
t_ok "perf.data from a pipe" sh -c "cat perf.data | vprof --symfs '$demo/symfs'"
t_same "is the same" "$T_OUT" want
t_ok "perf.data from a file on standard input" sh -c "vprof --symfs '$demo/symfs' - <perf.data"
t_same "is the same" "$T_OUT" want
gzip -k perf.data
t_ok "a compressed one" vprof "${s[@]}" perf.data.gz
t_same "is the same" "$T_OUT" want
mv perf.data.gz main
t_ok "whatever its name is" vlist "${s[@]}" main chase
t_like "when it comes first" '^chase in ' "$T_OUT"
t_ok "a pipe can come first" bash -c "vlist --symfs '$demo/symfs' <(cat perf.data) chase"
t_like "too" '^chase in ' "$T_OUT"
rm main
echo text >chase
t_ok "a file of another kind is a procedure's name" vlist "${s[@]}" -i perf.data chase
t_ok "also without -i" sh -c "vlist --symfs '$demo/symfs' chase <heat.vt"
t_like "of the input" '^chase in ' "$T_OUT"
vdb -d runs.vdb add heat.vt >/dev/null
vdb -d runs.vdb cat | vprof "${s[@]}" >want
t_ok "a database" vprof "${s[@]}" runs.vdb
t_same "is what vdb cat writes of it" "$T_OUT" want
t_status "a database in a pipe" 2 sh -c 'vprof <runs.vdb'
t_like "is to be named" 'a database is not read from a pipe: name it' "$T_ERR"

# Without a file.
cat >at-terminal <<'END'
import os, pty, sys
out = sys.argv[1]
pid, fd = pty.fork()
if pid == 0:
    to = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(to, 1)
    os.dup2(os.open(out + '.err', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 2)
    os.execvp(sys.argv[2], sys.argv[2:])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
at_terminal()
{
	"$PYTHON" at-terminal "$@"
}
vprof "${s[@]}" heat.vt >want
t_ok "with a terminal as standard input it is ./perf.data" at_terminal out vprof "${s[@]}"
t_same "the same" out want
t_ok "and with /dev/null, as a job of cron has it" sh -c 'vprof "$@" </dev/null >out' sh "${s[@]}"
t_same "the same" out want
t_ok "of vlist, too" at_terminal out vlist "${s[@]}" chase
t_like "with the procedure" '^chase in ' out
t_ok "and of info" at_terminal out vtrace info
t_like "with its name" 'perf.data' out
mv perf.data other.data
t_status "where there is none" 2 at_terminal out vprof
t_like "that is said" 'vprof: standard input is a terminal, and there is no \./perf.data: name a file' out.err
t_status "- is the terminal" 2 at_terminal out vprof -
mv other.data perf.data

# Damage is told as the decoder tells it, and makes the status.
head -c 100000 perf.data >cut.data
t_run vtrace decode cut.data -o cut.vt
sed 's/^vtrace decode:/vprof:/' "$T_ERR" >want.err
vprof "${s[@]}" cut.vt >want 2>/dev/null
t_status "a trace that is cut" 1 vprof "${s[@]}" cut.data
t_same "gives what there is" "$T_OUT" want
t_is "and says the same" "$(grep -vxFf want.err "$T_ERR" | grep -v 'missing: ')" ""
t_is "all of it" "$(grep -cxFf "$T_ERR" want.err)" "$(wc -l <want.err)"
cat perf.data perf.data >two.data
vprof "${s[@]}" perf.data 2>/dev/null | grep -v '^Gaps in' >want
t_status "of two recordings in one file" 1 vprof "${s[@]}" two.data
grep -v '^Gaps in' "$T_OUT" >got
t_same "the first is read" got want
t_like "and the second is told of" "1 damaged place, $(stat -c %s perf.data) bytes not understood" "$T_ERR"
head -c 60 perf.data >short.data
t_run vtrace decode short.data -o short.vt
status=$T_STATUS
t_status "a trace that cannot be read" "$status" vprof short.data
echo "nothing of ours" >text
t_status "a path that vlist cannot read" 3 vlist ./nowhere.data chase
t_like "is no procedure" '^vlist: \./nowhere.data: No such file or directory$' "$T_ERR"
t_status "also behind it" 3 vlist chase "$PWD"
t_like "is none" 'Is a directory$' "$T_ERR"
t_status "a text is no input" 3 vprof text
t_like "which is said" 'vprof: text: neither a stream nor a trace of a known format' "$T_ERR"
: >empty
t_status "an empty file is none" 3 vprof empty
t_like "which is said" 'vprof: empty: the file is empty' "$T_ERR"
t_status "a pipe without a byte" 3 sh -c ': | vprof'
printf '\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82' >raw.pt
t_status "raw packets of Intel PT need their code" 3 vprof raw.pt
t_like "which is said" 'raw.pt: raw packets of Intel PT, which do not name their code: vtrace decode --image' "$T_ERR"
t_done
