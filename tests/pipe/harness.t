#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The harness itself: a test that should fail does, and the total says so. What it runs stands in
# a small tree of its own, with a copy of tests/run and tests/lib.sh.

. "$(dirname "$0")/../lib.sh"

mkdir -p tree/tests/pipe
cp "$ROOT/tests/run" "$ROOT/tests/lib.sh" tree/tests/

# Makes the one test of the tree out of standard input and runs it; the last line is in $total.
run_test()
{
	{
		echo '#!/usr/bin/env bash'
		# shellcheck disable=SC2016 # meant for the test that is written
		echo '. "$(dirname "$0")/../lib.sh"'
		cat
	} >tree/tests/pipe/one.t
	chmod +x tree/tests/pipe/one.t
	t_run env VT_BUILD="$T_DIR/nothing" tree/tests/run "$@" pipe
	total=$(tail -n 1 "$T_OUT")
}

run_test <<'END'
t_ok "yes" true
t_status "three" 3 sh -c 'exit 3'
t_is "same" a a
t_skip "later" "a reason to show"
t_done
END
t_is "passes and skips are counted" "$total" "3 passed, 0 failed, 1 skipped"
t_is "and it succeeds" "$T_STATUS" 0
t_like "a skip is shown with its reason" '^skipped: .*later: a reason to show' "$T_OUT"

run_test <<'END'
t_ok "no" false
t_status "four" 3 sh -c 'exit 4'
t_is "differ" a b
t_pipe "a pipe's first command" 'false | true'
printf 'x\n' >f
t_like "absent" y f
t_unlike "present" x f
t_same "files" f /dev/null
t_done
END
t_is "each failure is counted" "$total" "0 passed, 7 failed, 0 skipped"
t_is "and it fails" "$T_STATUS" 1
t_like "the failing log is shown" 'wanted status 3 from' "$T_OUT"

run_test <<'END'
t_ok "yes" true
exit 0
END
t_is "a test that ends without a plan fails" "$total" "1 passed, 1 failed, 0 skipped"

run_test <<'END'
t_ok "yes" true
echo 1..2
END
t_is "a test that ends early fails" "$total" "1 passed, 1 failed, 0 skipped"

run_test -t 1 <<'END'
t_ok "sleeps" sleep 60
t_done
END
t_is "a test that hangs fails" "$total" "0 passed, 1 failed, 0 skipped"
t_like "and says why" 'did not finish in 1 seconds' "$T_OUT"

run_test <<'END'
t_ok "quiet" sh -c 'echo "x.c:1:2: runtime error: overflow" >&2'
t_ok "log" sh -c 'echo "ERROR: AddressSanitizer: x" >"${ASAN_OPTIONS##*log_path=}.7"'
(sh -c 'echo "ERROR: LeakSanitizer: x" >"${ASAN_OPTIONS##*log_path=}.8"')
t_done
END
t_is "a sanitizer report is a failure wherever it went" "$total" "0 passed, 3 failed, 0 skipped"

run_test <<'END'
t_skip_all "nothing here"
END
t_is "a whole test can be skipped" "$total" "0 passed, 0 failed, 1 skipped"
t_done
