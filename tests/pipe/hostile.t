#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What goes wrong around a listing: names that attack the terminal, images that are gone or are
# others, outputs that are full or closed, folders that may not be read.

. "$(dirname "$0")/../lib.sh"
t_need perf gcc

escape=$(printf '\033')

# ---- a program whose name holds a newline and a terminal's escape codes ----

cat >spin.c <<'END'
int main(void)
{
	for (volatile long i = 0; i < 100000000; i++)
		;
	return 0;
}
END
# The timer finds main some 200 times, nothing but it takes time: that none of 50 samples is in a procedure
# that has 95 % of the time would happen with a chance of .05^50.
name=$(printf 'red\033[31m\nname')
gcc -O1 -g -o "$name" spin.c
if ! perf record -q -e cpu-clock -F 2000 -o perf.data "./$name" >/dev/null 2>record.err; then
	t_skip_all "perf cannot record here: $(tail -n 1 record.err)"
fi
t_ok "such a trace is decoded" vtrace decode perf.data -o x.vt
for command in "vprof x.vt" "vprof --csv x.vt" "vprof --tsv x.vt" "vprof --json x.vt" \
	"vprof --by line x.vt" "vlist -i x.vt main" "vlist -i x.vt --json main" "vtrace info x.vt" \
	"vtrace info --json x.vt" "vtrace dump x.vt" "vtrace dump --json x.vt" \
	"vtrace dump -F symoff,dso,srcline,comm x.vt"; do
	# shellcheck disable=SC2086 # words on purpose
	t_ok "$command" $command
	t_unlike "$command sends no escape code" "$escape" "$T_OUT"
	t_is "$command breaks no line" "$(grep -ac '^name' "$T_OUT")" 0
done
t_ok "the name is still to be read" vprof x.vt
t_like "as an escape" 'red\\x1b\[31m\\nname' "$T_OUT"

# ---- images ----

# The event is called cpu-clock or, for a user who may not look into the kernel, cpu-clock:u: the only
# event's samples are in the first column, the symbol and the cause before the
# last two.
rows_with()
{
	awk -F, -v column="$1" -v what="$2" 'NR > 1 && (!column || $(NF - 4 + column) == what) { n += $1 }
		END { print n + 0 }' "$3"
}

total=$(vtrace info --json x.vt | jq '.events[0].samples')
vprof --csv x.vt >all.csv
t_ok "there are samples of main" [ "$(rows_with 1 main all.csv)" -gt 0 ]
# A sample may lie in the program's start-up code, and another image may have no file either.
in_image=$(awk -F, 'NR > 1 && $(NF - 4) ~ /red.*name$/ { n += $1 } END { print n + 0 }' all.csv)
without_file=$(rows_with 2 'file not found' all.csv)

# perf keeps copies of what it recorded: away with them.
rm -rf "$HOME/.debug"
mv "$name" kept
t_ok "the image is gone: vprof still counts" vprof --csv x.vt
t_is "every sample is in some row" "$(rows_with 0 '' "$T_OUT")" "$total"
t_is "those of the image say why" "$(rows_with 2 'file not found' "$T_OUT")" \
	"$((in_image + without_file))"
t_ok "and so does the table" vprof x.vt
t_like "with the cause as the procedure" '\[file not found\]' "$T_OUT"
t_like "and the share of unknown samples on top" 'unknown [1-9]' "$T_OUT"
t_status "vlist knows no such procedure then" 2 vlist -i x.vt main

sed 's/100000000/100000001/' spin.c >other.c
gcc -O1 -g -o "$name" other.c
t_ok "another program lies at the path: vprof" vprof --csv x.vt
t_is "its symbols are not taken" "$(rows_with 1 main "$T_OUT")" 0
t_is "the samples say so" "$(rows_with 2 'file has another build-id' "$T_OUT")" "$in_image"
old=$(readelf -n kept | sed -n 's/.*Build ID: //p')
new=$(readelf -n "$name" | sed -n 's/.*Build ID: //p')
t_like "the warning names the build-id that was recorded" "$old" "$T_ERR"
t_like "and the one that was found" "$new" "$T_ERR"

# ---- outputs ----

for command in "vprof x.vt" "vprof --json x.vt" "vlist -i x.vt --all" "vtrace info x.vt" \
	"vtrace dump x.vt" "vtrace merge x.vt" "vtrace decode perf.data"; do
	t_status "$command: a full device" 4 bash -c "$command >/dev/full"
	t_like "$command says so in one line" '^[a-z ]*: standard output: No space left' "$T_ERR"
	t_ok "$command: a closed pipe ends it quietly" \
		bash -c "$command 2>err | true; ! grep -aE 'standard output|Broken pipe' err"
done

# ---- folders ----

t_status "a folder is no stream" 3 vprof .
t_status "a symfs that is not there" 3 vprof --symfs nowhere x.vt
# Root may read everything, and so becomes somebody else, with a copy of the program that everybody can reach.
as_other=()
if [ "$(id -u)" = 0 ]; then
	as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod 755 "$T_DIR"
fi
cp "$VT_BUILD/bin/vtrace" reader
mkdir locked
cp x.vt locked/
chmod 644 x.vt
chmod 0 locked
t_status "a folder that may not be read" 3 "${as_other[@]}" ./reader prof locked/x.vt
t_like "is named with the reason" 'locked/x.vt: Permission denied' "$T_ERR"
t_status "a symfs that may not be read" 3 "${as_other[@]}" ./reader prof --symfs locked x.vt
t_like "is named with the reason, too" 'locked: Permission denied' "$T_ERR"
chmod 700 locked
t_done
