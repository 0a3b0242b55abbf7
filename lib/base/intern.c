/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

/* Strings lie in chunks that never move, so that pointers to them stay valid. */
#define CHUNK_SIZE 65536

struct chunk {
	struct chunk *next;
	char data[];
};

struct string {
	const char *data;
	size_t size;
};

struct vt_intern {
	struct chunk *chunks;
	size_t used; /* of the first chunk */
	size_t room;
	struct string *strings;
	size_t count;
	size_t cap;
	uint32_t *index; /* string id + 1, or 0 */
	size_t mask;
};

struct vt_intern *vt_intern_new(void)
{
	struct vt_intern *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->mask = 63;
	p->index = calloc(p->mask + 1, sizeof(*p->index));
	if (!p->index || vt_intern_add(p, "", 0) != 0) {
		vt_intern_free(p);
		return NULL;
	}
	return p;
}

void vt_intern_free(struct vt_intern *p)
{
	struct chunk *c, *next;

	if (!p)
		return;
	for (c = p->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(p->strings);
	free(p->index);
	free(p);
}

const char *vt_intern_copy(struct vt_intern *p, const void *data, size_t size)
{
	struct chunk *c;
	char *to;

	assert(p->used <= p->room);
	if (size + 1 > p->room - p->used) {
		size_t room = size + 1 > CHUNK_SIZE ? size + 1 : CHUNK_SIZE;

		if (size > SIZE_MAX / 2)
			return NULL;
		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		c->next = p->chunks;
		p->chunks = c;
		p->used = 0;
		p->room = room;
	}
	to = p->chunks->data + p->used;
	if (size)
		memcpy(to, data, size);
	to[size] = 0;
	p->used += size + 1;
	return to;
}

static size_t find_string_slot(const struct vt_intern *p, const void *data, size_t size)
{
	size_t i = vt_hash_bytes(data, size) & p->mask;

	while (p->index[i]) {
		const struct string *s = &p->strings[p->index[i] - 1];

		if (s->size == size && (size == 0 || memcmp(s->data, data, size) == 0))
			break;
		i = (i + 1) & p->mask;
	}
	return i;
}

static int grow_string_index(struct vt_intern *p)
{
	size_t slots = (p->mask + 1) * 2;
	uint32_t *bigger;
	size_t i;

	if ((p->count + 1) * 2 <= p->mask + 1)
		return 0;
	bigger = calloc(slots, sizeof(*bigger));
	if (!bigger)
		return -1;
	free(p->index);
	p->index = bigger;
	p->mask = slots - 1;
	assert((slots & p->mask) == 0 && p->count < slots);
	for (i = 0; i < p->count; i++)
		p->index[find_string_slot(p, p->strings[i].data, p->strings[i].size)] =
			(uint32_t)i + 1;
	return 0;
}

uint32_t vt_intern_add(struct vt_intern *p, const void *data, size_t size)
{
	const char *copy;
	size_t i;

	if (grow_string_index(p) < 0)
		return UINT32_MAX;
	i = find_string_slot(p, data, size);
	if (p->index[i])
		return p->index[i] - 1;
	if (p->count >= UINT32_MAX - 1 ||
	    !vt_array_grow(&p->strings, &p->cap, p->count + 1, sizeof(*p->strings)))
		return UINT32_MAX;
	copy = vt_intern_copy(p, data, size);
	if (!copy)
		return UINT32_MAX;
	p->strings[p->count] = (struct string){copy, size};
	p->index[i] = (uint32_t)++p->count;
	return (uint32_t)p->count - 1;
}

uint32_t vt_intern_find(const struct vt_intern *p, const void *data, size_t size)
{
	size_t i = find_string_slot(p, data, size);

	return p->index[i] ? p->index[i] - 1 : UINT32_MAX;
}

uint32_t vt_intern_str(struct vt_intern *p, const char *s)
{
	return vt_intern_add(p, s, strlen(s));
}

const char *vt_intern_get(const struct vt_intern *p, uint32_t id)
{
	assert(id < p->count);
	return p->strings[id].data;
}

size_t vt_intern_size(const struct vt_intern *p, uint32_t id)
{
	assert(id < p->count);
	return p->strings[id].size;
}
