/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_SAMPLE_H
#define FORMATS_PERFDATA_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/perfdata/attr.h"

/* An array of 64-bit words inside a record, in the file's byte order and at any alignment. */
struct pd_words {
	const uint8_t *p;
	size_t count;
};

/* One sample, or the sample id of another record.  Everything is borrowed from the record. */
struct pd_sample {
	uint64_t ip;
	uint64_t time;
	uint64_t addr;
	uint64_t id;
	uint64_t stream_id;
	uint64_t period;
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	uint64_t uregs_abi;
	uint64_t iregs_abi;
	uint64_t stack_dyn_size;
	uint64_t br_hw_idx;
	int32_t pid;
	int32_t tid;
	uint32_t cpu;
	uint32_t weight2;
	uint32_t weight3;
	struct pd_words read;
	struct pd_words callchain;
	struct pd_words branches; /* of 3 words each: from, to, flags */
	struct pd_words counters; /* one word for each branch */
	struct pd_words uregs;
	struct pd_words iregs;
	const uint8_t *raw;
	size_t raw_size;
	const uint8_t *stack;
	size_t stack_size;
	const uint8_t *aux;
	size_t aux_size;
	size_t size; /* bytes of the payload that all these took */
};

/*
 * Parses the payload (what follows the 8-byte header) of a PERF_RECORD_SAMPLE.  False when it is
 * too short for what it claims to hold; *s then has undefined content.
 */
bool vti_pd_sample_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			 size_t size, bool big);

/*
 * Parses the sample id at the end of the payload of any other record into *s, everything else 0.
 * *body is the size of what comes before it.  If the attribute has no sample_id_all nothing is
 * parsed.  False when the payload is too short.
 */
bool vti_pd_trailer_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			  size_t size, bool big, size_t *body);

/* Copies words into `out`, which has room for them, in this machine's order. */
void vti_pd_words_copy(uint64_t *out, const struct pd_words *w, bool big);

/* Words of a PERF_SAMPLE_READ value at `p`, at most `left` of them; 0 when it is cut. */
size_t vti_pd_read_words(const uint8_t *p, size_t left, uint64_t read_format, bool big);

#endif
