/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/data_source.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Of linux/perf_event.h: where the fields of a data source lie. */
#define LEVEL_SHIFT	   5
#define LEVEL_BITS	   14
#define LEVEL_HIT	   (1u << 1)
#define LEVEL_MISS	   (1u << 2)
#define LEVEL_NUMBER_SHIFT 33
#define LEVEL_NUMBER_MASK  15u
#define LEVEL_NUMBER_NONE  15
#define REMOTE_SHIFT	   37

/* By bit, after "N/A", "hit" and "miss". */
static const char *const level_names[LEVEL_BITS] = {
	NULL,
	NULL,
	NULL,
	"L1",
	"LFB/MAB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};

static const char *const number_names[LEVEL_NUMBER_MASK + 1] = {
	[1] = "L1",   [2] = "L2",	  [3] = "L3",	    [4] = "L4",	  [9] = "CXL",
	[10] = "I/O", [11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM", [14] = "PMEM",
};

static void append(char buf[VT_DATA_SOURCE_SIZE], const char *text)
{
	size_t at = strlen(buf);

	snprintf(buf + at, VT_DATA_SOURCE_SIZE - at, "%s", text);
}

const char *vt_data_source_text(uint64_t data_src, char buf[VT_DATA_SOURCE_SIZE])
{
	const uint64_t levels = data_src >> LEVEL_SHIFT;
	const char *number = number_names[data_src >> LEVEL_NUMBER_SHIFT & LEVEL_NUMBER_MASK];
	bool named = false;
	unsigned i;

	*buf = '\0';
	if (data_src >> REMOTE_SHIFT & 1)
		append(buf, "Remote ");
	for (i = 0; i < LEVEL_BITS; i++) {
		if (!level_names[i] || !(levels >> i & 1))
			continue;
		append(buf, named ? " or " : "");
		append(buf, level_names[i]);
		named = true;
	}
	if (!named)
		append(buf, number ? number : "N/A");
	if (levels & LEVEL_HIT)
		append(buf, " hit");
	if (levels & LEVEL_MISS)
		append(buf, " miss");
	return buf;
}

/* ---- all of it ---- */

/* Of linux/perf_event.h: union perf_mem_data_src. */
#define OP_BITS	     5
#define SNOOP_SHIFT  19
#define SNOOP_BITS   5
#define LOCK_SHIFT   24
#define TLB_SHIFT    26
#define TLB_BITS     7
#define TLB_HIT	     (1u << 1)
#define TLB_MISS     (1u << 2)
#define SNOOPX_SHIFT 38
#define BLOCK_SHIFT  40
#define HOPS_SHIFT   43
#define BIT_NA	     1u
#define LOCK_LOCKED  2u
#define BLOCK_DATA   2u
#define BLOCK_ADDR   4u

static const char *const op_names[OP_BITS] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
static const char *const snoop_names[SNOOP_BITS] = {"N/A", "None", "Hit", "Miss", "HitM"};
static const char *const snoopx_names[2] = {"Fwd", "Peer"};
static const char *const hop_names[8] = {"N/A", "core, same node", "node, same socket",
					 "socket, same board", "board"};

/* Hit and miss follow the names. */
static const char *const tlb_names[TLB_BITS] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};

/* Appends the names of the bits that are set, with "or" between, also before the first if `any`. */
static bool append_bits(char buf[VT_DATA_SOURCE_SIZE], const char *const *names, unsigned n,
			uint64_t bits, bool any)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!(bits >> i & 1) || !names[i])
			continue;
		append(buf, any ? " or " : "");
		append(buf, names[i]);
		any = true;
	}
	return any;
}

static void append_op(char buf[VT_DATA_SOURCE_SIZE], uint64_t bits)
{
	unsigned i;

	for (i = 0; i < OP_BITS; i++) {
		if (bits >> i & 1) {
			append(buf, op_names[i]);
			return;
		}
	}
	append(buf, "No");
}

static void append_outcome(char buf[VT_DATA_SOURCE_SIZE], bool hit, bool miss)
{
	append(buf, hit ? " hit" : "");
	append(buf, miss ? " miss" : "");
}

static void append_number(char buf[VT_DATA_SOURCE_SIZE], unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "L%u", number);
	if (number == LEVEL_NUMBER_NONE)
		append(buf, "N/A");
	else
		append(buf, number_names[number] ? number_names[number] : text);
}

static void append_level(char buf[VT_DATA_SOURCE_SIZE], uint64_t data_src)
{
	const uint64_t levels = data_src >> LEVEL_SHIFT;
	const unsigned number = data_src >> LEVEL_NUMBER_SHIFT & LEVEL_NUMBER_MASK;
	const unsigned hops = data_src >> HOPS_SHIFT & 7;
	const bool remote = data_src >> REMOTE_SHIFT & 1;
	bool named = false;

	append(buf, remote ? "Remote " : "");
	if (hops) {
		append(buf, hop_names[hops] ? hop_names[hops] : "?");
		append(buf, " ");
	} else {
		append(buf, levels & BIT_NA ? "N/A" : "");
		named = append_bits(buf, level_names, LEVEL_BITS, levels, levels & BIT_NA);
	}
	if (number) {
		append(buf, named ? " or " : "");
		append_number(buf, number);
	} else if (!named && !hops && !remote) {
		append(buf, "N/A");
	}
	append_outcome(buf, levels & LEVEL_HIT, levels & LEVEL_MISS);
}

static void append_lock_and_block(char buf[VT_DATA_SOURCE_SIZE], uint64_t data_src)
{
	const unsigned lock = data_src >> LOCK_SHIFT & 3, block = data_src >> BLOCK_SHIFT & 7;

	append(buf, "|LCK ");
	append(buf, lock & BIT_NA ? "N/A" : lock & LOCK_LOCKED ? "Yes" : "No");
	append(buf, "|BLK ");
	if (!block || block & BIT_NA) {
		append(buf, " N/A");
		return;
	}
	append(buf, block & BLOCK_DATA ? " Data" : "");
	append(buf, block & BLOCK_ADDR ? " Addr" : "");
}

const char *vt_data_source_line(uint64_t data_src, char buf[VT_DATA_SOURCE_SIZE])
{
	const uint64_t tlb = data_src >> TLB_SHIFT & ((1u << TLB_BITS) - 1);
	bool any;

	snprintf(buf, VT_DATA_SOURCE_SIZE, "|OP ");
	append_op(buf, data_src);
	append(buf, "|LVL ");
	append_level(buf, data_src);
	append(buf, "|SNP ");
	any = append_bits(buf, snoop_names, SNOOP_BITS, data_src >> SNOOP_SHIFT, false);
	any = append_bits(buf, snoopx_names, 2, data_src >> SNOOPX_SHIFT, any);
	append(buf, any ? "|TLB " : "N/A|TLB ");
	any = append_bits(buf, tlb_names, TLB_BITS, tlb, false);
	append(buf, any ? "" : "N/A");
	append_outcome(buf, tlb & TLB_HIT, tlb & TLB_MISS);
	append_lock_and_block(buf, data_src);
	return buf;
}

/* ---- loads ---- */

#define OP_LOAD	     (1u << 1)
#define LEVEL_L1     (1u << 3)
#define LEVEL_PLACES (((1u << LEVEL_BITS) - 1) & ~(BIT_NA | LEVEL_HIT | LEVEL_MISS))
#define NUMBER_L1    1
#define NUMBER_ANY   11 /* some cache: of this processor unless it is remote */
#define TLB_OWN	     (1u << 3 | 1u << 4)
#define TLB_WALKED   (1u << 5 | 1u << 6)

/* Bits and a number have the level, or one of both; `far`: in another core or machine. */
static void get_cache_outcome(uint64_t data_src, struct vt_load_outcome *outcome)
{
	const uint64_t levels = data_src >> LEVEL_SHIFT, places = levels & LEVEL_PLACES;
	const unsigned number = data_src >> LEVEL_NUMBER_SHIFT & LEVEL_NUMBER_MASK;
	const bool far = (data_src >> REMOTE_SHIFT & 1) || (data_src >> HOPS_SHIFT & 7);
	const bool numbered = number && number != LEVEL_NUMBER_NONE && number != NUMBER_ANY;

	/* "L1 or L2 hit" tells neither a hit nor a miss of L1. */
	const bool either = places & LEVEL_L1 && places & ~LEVEL_L1 && !(levels & LEVEL_MISS);

	outcome->cache_known = far || numbered || (places && !either);
	outcome->cache_missed =
		outcome->cache_known && (far || (levels & LEVEL_MISS) || places & ~LEVEL_L1 ||
					 (numbered && number != NUMBER_L1));
}

static void get_tlb_outcome(uint64_t data_src, struct vt_load_outcome *outcome)
{
	const uint64_t tlb = data_src >> TLB_SHIFT;

	outcome->tlb_known = (tlb & (TLB_OWN | TLB_WALKED)) && (tlb & (TLB_HIT | TLB_MISS));
	outcome->tlb_missed = outcome->tlb_known && (tlb & (TLB_MISS | TLB_WALKED));
}

bool vt_data_source_load(uint64_t data_src, struct vt_load_outcome *outcome)
{
	*outcome = (struct vt_load_outcome){0};
	if (!(data_src & OP_LOAD))
		return false;
	get_cache_outcome(data_src, outcome);
	get_tlb_outcome(data_src, outcome);
	return true;
}
