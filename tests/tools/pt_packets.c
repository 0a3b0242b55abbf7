/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pt_packets FILE [MTC-PERIOD NOMINAL-RATIO EBX EAX]
 *
 * Reads a raw Intel PT trace packet by packet, with libipt beside it, and says how many packets
 * there are and at how many places the two do not say the same.  With the clock's parameters (as
 * struct vt_pt_clock has them) also how far the times of the two lie apart at most: libipt's query
 * decoder tells its own without any code.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/input.h"
#include "formats/pt/timing.h"
#include "tests/tools/pt_same.h"

struct trace {
	uint8_t *begin;
	uint8_t *end;
	struct pt_config config;
};

static void packets(struct trace *t)
{
	struct pt_packet_decoder *d = pt_pkt_alloc_decoder(&t->config);
	const uint8_t *p = vt_pt_find_psb(t->begin, t->end);
	uint64_t count = 0, bad = 0, differ = 0, offset = 0;
	struct vt_pt_packet v;
	int size;

	if (!d)
		exit(3);
	if (pt_pkt_sync_forward(d) < 0 ? p != NULL : pt_pkt_get_offset(d, &offset) < 0)
		differ++;
	if (p && offset != (uint64_t)(p - t->begin))
		differ++;
	while (p && p < t->end) {
		pt_pkt_sync_set(d, (uint64_t)(p - t->begin));
		if (!pt_same(d, p, t->end, &v, &size))
			differ++;
		count += size > 0;
		bad += size <= 0;
		p = size > 0 ? p + size : vt_pt_find_psb(p + 1, t->end);
	}
	pt_pkt_free_decoder(d);
	printf("packets: %" PRIu64 ", bad: %" PRIu64 ", different: %" PRIu64 "\n", count, bad,
	       differ);
}

/* Moves our clock on to a position of libipt's. */
static void follow(struct vt_pt_timing *time, const uint8_t **p, const uint8_t *to,
		   const uint8_t *end)
{
	struct vt_pt_packet v;
	int size;

	while (*p < to) {
		size = vt_pt_packet_read(&v, *p, end, 0);
		if (size < 0)
			exit(1);
		vt_pt_timing_packet(time, &v);
		*p += size;
	}
}

/* The next event, decision or address; a negative status at the end. */
static int advance(struct pt_query_decoder *q, int status)
{
	struct pt_event event;
	uint64_t ip;
	int taken, got;

	if (status & pts_event_pending)
		return pt_qry_event(q, &event, sizeof(event));
	got = pt_qry_cond_branch(q, &taken);
	return got == -pte_bad_query ? pt_qry_indirect_branch(q, &ip) : got;
}

/* How far x lies outside of what is between the two. */
static uint64_t outside(uint64_t x, uint64_t from, uint64_t to)
{
	return x < from ? from - x : x > to ? x - to : 0;
}

/*
 * libipt reads ahead: the time that it tells is that of the position before, or, as long as there
 * are decisions left of a packet that it took before it read ahead, the one before that; and at a
 * PSB that of now.
 */
static void times(struct trace *t, const struct vt_pt_clock *clock)
{
	struct pt_query_decoder *q = pt_qry_alloc_decoder(&t->config);
	uint64_t older = 0, old = 0, most = 0, steps = 0, ip, theirs, offset, apart;
	const uint8_t *p = t->begin;
	struct vt_pt_timing time;
	int status;

	if (!q)
		exit(3);
	vt_pt_timing_init(&time, clock);
	for (status = pt_qry_sync_forward(q, &ip); status >= 0; status = advance(q, status)) {
		if (pt_qry_get_offset(q, &offset) < 0)
			break;
		if (t->begin + offset > p) {
			older = old;
			old = time.tsc;
		}
		follow(&time, &p, t->begin + offset, t->end);
		if (!older || pt_qry_time(q, &theirs, NULL, NULL) < 0)
			continue;
		apart = outside(theirs, older, time.tsc);
		most = apart > most ? apart : most;
		steps++;
	}
	pt_qry_free_decoder(q);
	printf("times: %" PRIu64 ", at most apart: %" PRIu64 "\n", steps, most);
}

static unsigned argument(const char *text)
{
	return (unsigned)strtoul(text, NULL, 0);
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_input in;
	struct vt_pt_clock clock;
	struct trace t;
	size_t have;

	if (argc != 2 && argc != 6) {
		fprintf(stderr, "usage: pt_packets FILE [MTC-PERIOD NOMINAL-RATIO EBX EAX]\n");
		return 2;
	}
	if (vt_input_open(&in, argv[1], &err) < 0 ||
	    vt_input_fill(&in, (size_t)1 << 40, &have, &err) < 0) {
		fprintf(stderr, "pt_packets: %s\n", err.text);
		return 3;
	}
	pt_config_init(&t.config);
	t.config.begin = t.begin = in.buf + in.start;
	t.config.end = t.end = t.begin + have;
	packets(&t);
	if (argc == 6) {
		clock = (struct vt_pt_clock){(uint8_t)argument(argv[2]), (uint8_t)argument(argv[3]),
					     argument(argv[4]), argument(argv[5])};
		t.config.mtc_freq = clock.mtc_period;
		t.config.nom_freq = clock.nominal_ratio;
		t.config.cpuid_0x15_ebx = clock.ctc_numerator;
		t.config.cpuid_0x15_eax = clock.ctc_denominator;
		times(&t, &clock);
	}
	vt_input_close(&in);
	return 0;
}
