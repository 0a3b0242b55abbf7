/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/ooo_decode.h"

#include <string.h>

void vti_decode_init(struct vti_decode *d, uint64_t cycle)
{
	unsigned i;

	memset(d, 0, sizeof(*d));
	d->found = d->cycle = cycle;
	d->cycles = 1;
	for (i = 0; i < VTI_DECODE_QUEUE; i++)
		d->left[i] = cycle;
}

/* ---- lengths ---- */

static void enter_block(struct vti_decode *d, uint64_t block)
{
	if (block <= d->block)
		return;
	d->spare = block == d->block + 1 ? d->cycles - 1 : 0;
	d->found += block - d->block;
	d->block = block;
	d->nfound = 0;
	d->cycles = 1;
}

/* An instruction takes part of the block. */
static void find_length(struct vti_decode *d, const struct vt_core *m)
{
	if (m->predecode && d->nfound == m->predecode) {
		d->found++;
		d->cycles++;
		d->nfound = 0;
	}
	d->nfound++;
}

static void predecode_insn(struct vti_decode *d, const struct vt_core *m, const struct vt_mop *op)
{
	uint64_t opcode = (d->position + op->prefixes) / m->fetch_bytes, last;
	uint32_t hidden;

	d->position += op->length ? op->length : 1;
	last = (d->position - 1) / m->fetch_bytes;
	enter_block(d, opcode);
	if (op->changes_size) {
		hidden = d->spare < m->prefix ? d->spare : m->prefix;
		d->spare -= hidden;
		d->found += m->prefix - hidden;
	}
	if (last != opcode) {
		find_length(d, m);
		enter_block(d, last);
	}
	find_length(d, m);
}

/* ---- decoders ---- */

static void next_cycle(struct vti_decode *d, uint64_t cycle)
{
	d->cycle = cycle;
	d->used = d->slots = 0;
}

static uint64_t decode_insn(struct vti_decode *d, const struct vt_core *m, const struct vt_mop *op)
{
	uint32_t slots = op->decoded ? op->decoded : 1;
	bool is_complex = slots > 1 || (m->pop_first && op->ends_group);

	if ((d->used && is_complex) || (m->decoders && d->used >= m->decoders) ||
	    (d->used && m->decoded && d->slots + slots > m->decoded))
		next_cycle(d, d->cycle + 1);
	d->used++;
	d->slots += slots;
	if (op->ends_group)
		d->used = m->decoders;
	/* Microcode is read in as many slots a cycle as are renamed. */
	if (m->decoded && m->decode && slots > m->decode) {
		next_cycle(d, d->cycle + slots / m->decode);
		d->used = m->decoders;
	}
	return d->cycle;
}

uint64_t vti_decode_run(struct vti_decode *d, const struct vt_core *m, const struct vt_mop *op,
			uint64_t at)
{
	uint32_t size = m->fetch_queue && m->fetch_queue < VTI_DECODE_QUEUE ? m->fetch_queue
									    : VTI_DECODE_QUEUE;
	uint64_t when, *left = &d->left[d->next];

	if (*left > d->found) {
		d->found = *left;
		d->nfound = 0;
	}
	predecode_insn(d, m, op);
	when = d->found > at ? d->found : at;
	if (when > d->cycle)
		next_cycle(d, when);
	*left = decode_insn(d, m, op);
	d->next = (d->next + 1) % size;
	return *left;
}
