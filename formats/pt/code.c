/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Sections in the order of their addresses; shared by copies until one of them changes. */
struct sections {
	struct vt_pt_section *all;
	size_t count;
	size_t cap;
	size_t users;
};

struct vt_pt_code {
	struct sections *sections;
	const struct vt_pt_code *kernel;
	uint64_t generation;
};

static struct sections *new_sections(void)
{
	struct sections *s = calloc(1, sizeof(*s));

	if (s)
		s->users = 1;
	return s;
}

static void drop_sections(struct sections *s)
{
	if (--s->users)
		return;
	free(s->all);
	free(s);
}

/* Makes the sections of `c` unshared, with room for two more. */
static int own_sections(struct vt_pt_code *c, struct vt_error *err)
{
	struct sections *old = c->sections, *s = old;

	if (old->users > 1) {
		s = new_sections();
		if (!s)
			goto nomem;
	}
	if (!vt_array_grow(&s->all, &s->cap, old->count + 2, sizeof(*s->all))) {
		if (s != old)
			drop_sections(s);
		goto nomem;
	}
	if (s != old) {
		if (old->count)
			memcpy(s->all, old->all, old->count * sizeof(*s->all));
		s->count = old->count;
		drop_sections(old);
		c->sections = s;
	}
	return 0;
nomem:
	return vt_error_set(err, VT_E_NOMEM, "out of memory for sections of code");
}

struct vt_pt_code *vt_pt_code_new(void)
{
	struct vt_pt_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sections = new_sections();
	if (!c->sections) {
		free(c);
		return NULL;
	}
	return c;
}

void vt_pt_code_free(struct vt_pt_code *c)
{
	if (!c)
		return;
	drop_sections(c->sections);
	free(c);
}

struct vt_pt_code *vt_pt_code_copy(const struct vt_pt_code *c)
{
	struct vt_pt_code *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *c;
	copy->sections->users++;
	return copy;
}

/* The number of sections that begin at or before an address. */
static size_t count_sections_up_to(const struct sections *s, uint64_t ip)
{
	return vt_array_up_to(s->all, s->count, sizeof(*s->all), ip);
}

static const struct vt_pt_section *find_code_section(const struct sections *s, uint64_t ip)
{
	const size_t n = count_sections_up_to(s, ip);
	const struct vt_pt_section *f = n ? &s->all[n - 1] : NULL;

	return f && ip - f->start < f->size ? f : NULL;
}

/* Cuts [start, last] out of the sections, which have room for one more.  Returns its index. */
static size_t cut_out(struct sections *s, uint64_t start, uint64_t last)
{
	size_t i = count_sections_up_to(s, start), end;

	if (i && start - s->all[i - 1].start < s->all[i - 1].size) {
		struct vt_pt_section *before = &s->all[i - 1];
		const uint64_t head = start - before->start;

		if (before->size - head - 1 > last - start) {
			memmove(before + 1, before, (s->count - i + 1) * sizeof(*before));
			s->count++;
			before[1].start = last + 1;
			before[1].size -= last + 1 - before->start;
			before[1].bytes += last + 1 - before->start;
			before[1].offset += last + 1 - before->start;
		}
		before->size = head;
		if (!head)
			i--;
	}
	end = count_sections_up_to(s, last);
	if (end > i) {
		struct vt_pt_section *behind = &s->all[end - 1];
		const uint64_t part = last - behind->start + 1;

		if (part && part < behind->size) {
			behind->start += part;
			behind->size -= part;
			behind->bytes += part;
			behind->offset += part;
			end--;
		}
		if (end > i) {
			memmove(&s->all[i], &s->all[end], (s->count - end) * sizeof(*s->all));
			s->count -= end - i;
		}
	}
	return i;
}

int vt_pt_code_add(struct vt_pt_code *c, const struct vt_pt_section *s, struct vt_error *err)
{
	struct sections *all;
	size_t at;
	int r;

	if (!s->size || s->size - 1 > UINT64_MAX - s->start)
		return vt_error_set(err, VT_E_FORMAT,
				    "code of 0x%llx bytes at 0x%llx: not within the address space",
				    (unsigned long long)s->size, (unsigned long long)s->start);
	if (c->sections->count + 2 > VT_PT_MAX_SECTIONS)
		return vt_error_set(err, VT_E_LIMIT, "more than %d sections of code",
				    VT_PT_MAX_SECTIONS);
	r = own_sections(c, err);
	if (r < 0)
		return r;
	all = c->sections;
	at = cut_out(all, s->start, s->start + (s->size - 1));
	memmove(&all->all[at + 1], &all->all[at], (all->count - at) * sizeof(*all->all));
	all->all[at] = *s;
	all->count++;
	c->generation++;
	return 0;
}

int vt_pt_code_remove(struct vt_pt_code *c, uint64_t start, uint64_t size, struct vt_error *err)
{
	int r;

	if (!size)
		return 0;
	if (size - 1 > UINT64_MAX - start)
		size = UINT64_MAX - start + 1;
	r = own_sections(c, err);
	if (r < 0)
		return r;
	cut_out(c->sections, start, start + (size - 1));
	c->generation++;
	return 0;
}

void vt_pt_code_set_kernel(struct vt_pt_code *c, const struct vt_pt_code *kernel)
{
	if (kernel == c->kernel)
		return;
	/* The kernel's own number is a part of the sum: it must not cancel the change. */
	c->generation = vt_pt_code_generation(c) + 1;
	c->kernel = kernel;
}

const uint8_t *vt_pt_code_at(const struct vt_pt_code *c, uint64_t ip, size_t *size)
{
	const struct sections *own = c->sections;
	const struct vt_pt_section *s;
	size_t n = count_sections_up_to(own, ip);

	if (n && ip - own->all[n - 1].start < own->all[n - 1].size) {
		s = &own->all[n - 1];
		*size = (size_t)(s->size - (ip - s->start));
		return s->bytes + (ip - s->start);
	}
	s = c->kernel ? find_code_section(c->kernel->sections, ip) : NULL;
	if (!s) {
		*size = 0;
		return NULL;
	}
	*size = (size_t)(s->size - (ip - s->start));
	if (n < own->count && own->all[n].start - ip < *size)
		*size = (size_t)(own->all[n].start - ip);
	return s->bytes + (ip - s->start);
}

size_t vt_pt_code_read(const struct vt_pt_code *c, uint64_t ip, uint8_t *out, size_t size)
{
	size_t done = 0, have;

	while (done < size) {
		const uint8_t *p = vt_pt_code_at(c, ip + done, &have);

		if (!p)
			break;
		if (have > size - done)
			have = size - done;
		memcpy(out + done, p, have);
		done += have;
		if (ip + done == 0)
			break;
	}
	return done;
}

size_t vt_pt_code_count(const struct vt_pt_code *c)
{
	return c->sections->count;
}

const struct vt_pt_section *vt_pt_code_section(const struct vt_pt_code *c, size_t i)
{
	return &c->sections->all[i];
}

uint64_t vt_pt_code_generation(const struct vt_pt_code *c)
{
	return c->generation + (c->kernel ? c->kernel->generation : 0);
}
