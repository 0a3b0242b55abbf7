/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: loop_time CORE <BODIES
 *
 * What a round of each loop takes on a core when nothing dynamic stalls it: a line of hexadecimal
 * bytes is a loop's body, without its branch; a line of cycles comes out for it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/schedule.h"

#define MAX_BODY 64 /* instructions */
#define ROUNDS	 60
#define COUNTED	 40 /* the last of them */

static void fail(const char *text)
{
	fprintf(stderr, "loop_time: %s\n", text);
	exit(3);
}

static size_t read_body(const struct vt_core *m, const char *line, struct vt_mop *ops)
{
	uint8_t code[MAX_BODY * VT_MAX_INSN];
	size_t size = 0, at = 0, n = 0;
	char digits[3] = "";

	for (; line[0] && line[1] && size < sizeof(code); line += 2) {
		digits[0] = line[0];
		digits[1] = line[1];
		code[size++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	while (at < size && n < MAX_BODY && vt_core_op(m, code + at, size - at, &ops[n]))
		at += ops[n++].length;
	return at == size ? n : 0;
}

static double time_loop(const struct vt_core *m, const struct vt_mop *ops, size_t n)
{
	static const struct vt_mop *list[MAX_BODY * ROUNDS];
	static struct vt_schedule_cost costs[MAX_BODY * COUNTED];
	struct vt_error err = VT_ERROR_INIT;
	double sum = 0;
	size_t i;

	for (i = 0; i < n * ROUNDS; i++)
		list[i] = &ops[i % n];
	if (vt_schedule(m, list, n * ROUNDS, n * (ROUNDS - COUNTED), costs, &err) < 0)
		fail(err.text);
	for (i = 0; i < n * COUNTED; i++)
		sum += (double)costs[i].head;
	return sum / COUNTED;
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mop ops[MAX_BODY];
	struct vt_core m;
	char line[4096];
	size_t n;

	if (argc != 2)
		fail("usage: loop_time CORE <BODIES");
	if (vt_core_load(&m, argv[1], &err) < 0)
		fail(err.text);
	while (fgets(line, sizeof(line), stdin)) {
		for (n = 0; line[n] && line[n] != '\n'; n++)
			;
		line[n] = '\0';
		n = read_body(&m, line, ops);
		if (!n)
			fail("a body that is not code");
		printf("%.3f\n", time_loop(&m, ops, n));
	}
	return 0;
}
