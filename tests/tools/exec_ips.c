/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: exec_ips STREAM [TID]
 *
 * The instructions that a thread (the first, or TID) executed, in their order: prints how many, and
 * a hash of their addresses. A repeated string instruction counts once however often it repeats,
 * and not before a signal that interrupts it. As pt_ips.c prints of a trace.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream/exec.h"
#include "stream/reader.h"

struct ips {
	struct vt_bblocks *dict;
	int64_t tid; /* 0: not yet known */
	uint64_t count;
	uint64_t hash;
	uint64_t before; /* the hash without the last instruction */
	uint64_t last;
	bool repeats; /* the last one is a repeated string instruction */
};

static void fail(const struct vt_error *err)
{
	fprintf(stderr, "exec_ips: %s\n", err->text);
	exit(1);
}

static bool is_repeated(const uint8_t *p, unsigned n)
{
	bool rep = false;

	while (n && (*p == 0xf2 || *p == 0xf3 || *p == 0x66 || *p == 0x67 || (*p & 0xf0) == 0x40)) {
		rep |= *p == 0xf2 || *p == 0xf3;
		p++;
		n--;
	}
	return rep && n == 1 && *p >= 0xa4 && *p <= 0xaf && *p != 0xa8 && *p != 0xa9;
}

static void take(struct ips *s, uint64_t ip, const uint8_t *code, unsigned length)
{
	if (s->repeats && ip == s->last)
		return;
	s->repeats = code && is_repeated(code, length);
	s->last = ip;
	s->count++;
	s->before = s->hash;
	s->hash = (s->hash ^ ip) * 0x9e3779b97f4a7c15u;
	s->hash ^= s->hash >> 29;
}

static void on_exec(struct ips *s, const struct vt_record *rec)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_step step;
	struct vt_exec x;
	int r = vt_exec_open(&x, s->dict, rec, &err);

	if (!s->tid)
		s->tid = x.tid;
	if (r < 0)
		fail(&err);
	while (x.tid == s->tid && (r = vt_exec_next(&x, &step, &err)) > 0) {
		const struct vt_bblock *b = step.block;
		uint64_t ip = vt_bblock_insn_addr(b, step.insn);
		uint32_t i;

		for (i = step.insn; i < step.insn_end; i++) {
			take(s, ip, b->code ? b->code + (ip - b->addr) : NULL, b->lengths[i]);
			ip += b->lengths[i];
		}
	}
	if (r < 0)
		fail(&err);
}

static void on_signal(struct ips *s, const struct vt_record *rec)
{
	if (vt_record_i64(rec, VT_SIGNAL_TID) != s->tid)
		return;
	if (s->repeats && vt_record_u64(rec, VT_SIGNAL_IP) == s->last) {
		s->hash = s->before;
		s->count--;
	}
	s->repeats = false;
}

int main(int argc, char **argv)
{
	struct ips s = {.tid = argc > 2 ? strtoll(argv[2], NULL, 10) : 0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	int code;

	if (argc < 2)
		return 2;
	r = vt_reader_open(argv[1], &err);
	s.dict = vt_bblocks_new();
	if (!r || !s.dict)
		fail(&err);
	while ((code = vt_reader_next(r, &rec, &err)) > 0) {
		if (rec.kind == VT_BLOCK && vt_bblocks_add(s.dict, &rec, &err) < 0)
			fail(&err);
		if (rec.kind == VT_EXEC)
			on_exec(&s, &rec);
		if (rec.kind == VT_SIGNAL)
			on_signal(&s, &rec);
	}
	if (code < 0)
		fail(&err);
	printf("%" PRIu64 " %016" PRIx64 "\n", s.count, s.hash);
	vt_bblocks_free(s.dict);
	vt_reader_close(r);
	return 0;
}
