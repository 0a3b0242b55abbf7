/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PTTRACE_H
#define TESTS_UNIT_COMMON_PTTRACE_H

/* Traces of Intel PT, packet by packet, and the code at BASE that they lead through. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/code.h"
#include "formats/pt/encode/putpacket.h"
#include "formats/pt/packet.h"

#define BASE	   0x400000
#define TRACE_SIZE (1 << 20)

struct trace {
	uint8_t *end;
	uint8_t bytes[TRACE_SIZE];
};

static inline void put(struct trace *t, struct vt_pt_packet k)
{
	uint8_t *end = vt_pt_packet_write(t->end, &k);

	assert_true(end > t->end);
	t->end = end;
}

static inline void put_kind(struct trace *t, unsigned kind, uint64_t payload)
{
	put(t, (struct vt_pt_packet){.kind = (uint8_t)kind, .payload = payload});
}

static inline void put_ip(struct trace *t, unsigned kind, uint64_t ip)
{
	put(t,
	    (struct vt_pt_packet){.kind = (uint8_t)kind, .ipc = VT_PT_IPC_SEXT48, .payload = ip});
}

static inline void put_no_ip(struct trace *t, unsigned kind)
{
	put(t, (struct vt_pt_packet){.kind = (uint8_t)kind, .ipc = VT_PT_IPC_SUPPRESSED});
}

/* Decisions: '1' is taken. */
static inline void put_tnt(struct trace *t, const char *bits)
{
	struct vt_pt_packet k = {.kind = VT_PT_TNT8, .count = (uint8_t)strlen(bits)};

	for (; *bits; bits++)
		k.payload = k.payload << 1 | (*bits == '1');
	put(t, k);
}

/* A PSB+ in 64-bit code; ip 0: tracing is off. */
static inline void put_psb(struct trace *t, uint64_t ip)
{
	put_kind(t, VT_PT_PSB, 0);
	if (ip) {
		put_ip(t, VT_PT_FUP, ip);
		put_kind(t, VT_PT_MODE_EXEC, 64);
	}
	put_kind(t, VT_PT_PSBEND, 0);
}

static inline struct trace *start(struct trace *t)
{
	t->end = t->bytes;
	return t;
}

static inline size_t size_of(const struct trace *t)
{
	return (size_t)(t->end - t->bytes);
}

static inline void add_code(struct vt_pt_code *c, uint64_t start_at, const void *bytes, size_t size)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_section s = {start_at, size, bytes, NULL, 0};

	assert_int_equal(vt_pt_code_add(c, &s, &err), 0);
}

#endif
