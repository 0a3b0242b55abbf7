/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coprocessor/machine_internal.h"

static void decode(struct vt_coproc *m)
{
	const struct vt_ucode *u = m->u;
	unsigned i;

	for (i = 0; i < u->nwords; i++) {
		const struct vt_uword *w = &u->fields[i];
		struct vti_uop *op = &m->uops[i];

		op->w = *w;
		op->work = (uint8_t)((w->alu ? VTI_WORK_ALU : 0) | (w->cam ? VTI_WORK_CAM : 0) |
				     (w->memory ? VTI_WORK_MEMORY : 0) |
				     (w->step ? VTI_WORK_STEP : 0));
		if (w->a == VT_OP_RAND || w->b == VT_OP_RAND)
			op->work |= VTI_WORK_RANDOM;
		if (w->a == VT_OP_X || w->b == VT_OP_X)
			op->work |= VTI_WORK_X;
		if (w->target >= VT_TARGET_DONE)
			op->to = w->target == VT_TARGET_DONE ? VTI_DONE : VTI_INTERRUPT;
		else if (w->target >= VT_TARGET_REGISTER)
			op->to = u->targets[w->target - VT_TARGET_REGISTER].word;
		else if (w->target >= VT_TARGET_BACK)
			op->to = (uint8_t)(i - 1u - (w->target - VT_TARGET_BACK));
		else
			op->to = (uint8_t)(i + 1u + w->target);
		if (w->memory != VT_MEM_NONE) {
			const struct vt_ucode_base *b = &u->bases[w->base];

			op->start = b->start;
			while (8u << op->log2 < b->bits)
				op->log2++;
			op->most = b->bits == 64 ? UINT64_MAX : (UINT64_C(1) << b->bits) - 1;
		}
	}
}

static bool is_power(uint32_t n)
{
	return n && !(n & (n - 1));
}

static int check_sizes(const struct vt_ucode *u, uint32_t cam_bytes, uint32_t data_bytes,
		       struct vt_error *err)
{
	uint32_t cam = (uint32_t)u->slots * u->cam_bits / 8, data = vt_ucode_data_bytes(u);

	if (!is_power(cam_bytes) || !is_power(data_bytes))
		return vt_error_set(err, VT_E_USAGE,
				    "arrays have a power of two of bytes, as addresses are made "
				    "without arithmetic");
	if (cam > cam_bytes)
		return vt_error_set(err, VT_E_USAGE,
				    "%u slots of %u bits need %u bytes of the associative array, "
				    "which has %u",
				    u->slots, u->cam_bits, cam, cam_bytes);
	if (data > data_bytes)
		return vt_error_set(err, VT_E_USAGE,
				    "the program needs %u bytes of the data array, which has %u",
				    data, data_bytes);
	return 0;
}

struct vt_coproc *vt_coproc_new(const struct vt_ucode *u, uint32_t cam_bytes, uint32_t data_bytes,
				struct vt_error *err)
{
	struct vt_coproc *m;
	uint32_t heads = 4;
	unsigned i;

	if (check_sizes(u, cam_bytes, data_bytes, err) < 0)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m) {
		vt_error_nomem(err);
		return NULL;
	}
	m->u = u;
	m->shift = 62;
	/* So many that most chains have one entry at most: longer ones are hard to predict. */
	while (heads < 8u * u->slots) {
		heads *= 2;
		m->shift--;
	}
	m->data = calloc(data_bytes, 1);
	m->keys = calloc(u->slots, sizeof(*m->keys));
	m->valid = calloc(u->slots, 1);
	m->chain = calloc(u->slots, sizeof(*m->chain));
	m->heads = calloc(heads, sizeof(*m->heads));
	m->nheads = heads;
	if (!m->data || !m->keys || !m->valid || !m->chain || !m->heads) {
		vt_coproc_free(m);
		vt_error_nomem(err);
		return NULL;
	}
	m->key_mask = u->cam_bits == 64 ? UINT64_MAX : (UINT64_C(1) << u->cam_bits) - 1;
	m->lfsr = 1;
	m->in[VT_OP_ONE] = 1;
	for (i = 0; i < u->nconstants; i++)
		m->in[VT_OP_C0 + i] = u->constants[i].value;
	for (i = 0; i < u->nindexes; i++) {
		m->xmax[i] = (uint16_t)((1u << u->indexes[i].bits) - 1);
		m->x[i] = u->indexes[i].start;
	}
	memset(m->predictors, 1, sizeof(m->predictors));
	decode(m);
	return m;
}

void vt_coproc_free(struct vt_coproc *m)
{
	if (!m)
		return;
	free(m->data);
	free(m->keys);
	free(m->valid);
	free(m->chain);
	free(m->heads);
	free(m);
}

void vt_coproc_trace(struct vt_coproc *m, vt_coproc_trace_fn *fn, void *arg)
{
	m->trace = fn;
	m->trace_arg = arg;
}

const struct vt_coproc_stats *vt_coproc_stats(const struct vt_coproc *m)
{
	return &m->stats;
}

void vt_coproc_describe(const struct vt_coproc *m, struct vt_buf *out)
{
	unsigned i;

	vt_buf_printf(out, "word %u", m->word);
	for (i = 0; i < 4; i++)
		vt_buf_printf(out, " v%u=0x%" PRIx64, i, m->in[VT_OP_V0 + i]);
	vt_buf_printf(out, " d=0x%" PRIx64 " m=%" PRIu64, m->in[VT_OP_D], m->in[VT_OP_M]);
	for (i = 0; i < m->u->nindexes; i++)
		vt_buf_printf(out, " %s=%u", m->u->indexes[i].name, m->x[i]);
}

/* ---- the host access bus ---- */

uint64_t vt_coproc_data(const struct vt_coproc *m, const struct vt_ucode_base *b, uint32_t i)
{
	const uint8_t *p = m->data + b->start + (size_t)i * b->bits / 8;

	return b->bits == 8    ? *p
	       : b->bits == 16 ? vt_le16(p)
	       : b->bits == 32 ? vt_le32(p)
			       : vt_le64(p);
}

bool vt_coproc_entry(const struct vt_coproc *m, uint32_t i, uint64_t *key)
{
	*key = m->keys[i];
	return m->valid[i];
}

uint16_t vt_coproc_index(const struct vt_coproc *m, unsigned i)
{
	return m->x[i];
}

void vt_coproc_set_index(struct vt_coproc *m, unsigned i, uint16_t v)
{
	m->x[i] = v & m->xmax[i];
}

uint64_t vt_coproc_operand(const struct vt_coproc *m, enum vt_ucode_operand op)
{
	return m->in[op];
}

void vt_coproc_invalidate(struct vt_coproc *m)
{
	memset(m->valid, 0, m->u->slots);
	memset(m->heads, 0, m->nheads * sizeof(*m->heads));
}

void vt_coproc_clear(struct vt_coproc *m)
{
	unsigned i;

	for (i = 0; i < m->u->nbases; i++) {
		const struct vt_ucode_base *b = &m->u->bases[i];

		if (!b->keep)
			memset(m->data + b->start, 0, (size_t)b->elements * b->bits / 8);
	}
}

void vt_coproc_restart(struct vt_coproc *m)
{
	unsigned i;

	for (i = 0; i < m->u->nindexes; i++)
		if (!m->u->indexes[i].keep)
			m->x[i] = m->u->indexes[i].start;
}
