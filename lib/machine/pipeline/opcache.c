/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/opcache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Each instruction has one place, where the latest stays: 4 MB or so. */
#define PLACES 32768

struct place {
	uint8_t size; /* 0: free */
	uint8_t code[VT_MAX_INSN];
	struct vt_mop op;
};

struct vt_opcache {
	struct place places[PLACES];
};

struct vt_opcache *vt_opcache_new(void)
{
	return calloc(1, sizeof(struct vt_opcache));
}

void vt_opcache_free(struct vt_opcache *c)
{
	free(c);
}

static size_t place_of(const uint8_t *code, size_t size)
{
	return vt_hash_bytes(code, size) % PLACES;
}

bool vt_opcache_get(const struct vt_opcache *c, const uint8_t *code, size_t size, struct vt_mop *op)
{
	const struct place *p;

	if (!size || size > VT_MAX_INSN)
		return false;
	p = &c->places[place_of(code, size)];
	if (p->size != size || memcmp(p->code, code, size) != 0)
		return false;
	*op = p->op;
	return true;
}

void vt_opcache_put(struct vt_opcache *c, const uint8_t *code, size_t size, const struct vt_mop *op)
{
	struct place *p;

	if (!size || size > VT_MAX_INSN || op->length != size)
		return;
	p = &c->places[place_of(code, size)];
	p->size = (uint8_t)size;
	memcpy(p->code, code, size);
	p->op = *op;
}
