/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/conflict_internal.h"

static void join(const struct vti_depends *d, struct vti_set *to, const struct vti_set *from)
{
	unsigned i;

	for (i = 0; i < d->words; i++)
		to->w[i] |= from->w[i];
}

static void copy(const struct vti_depends *d, struct vti_set *to, const struct vti_set *from)
{
	memcpy(to->w, from->w, d->words * sizeof(to->w[0]));
}

static void clear(const struct vti_depends *d, struct vti_set *s)
{
	memset(s->w, 0, d->words * sizeof(s->w[0]));
}

static void add(const struct vti_depends *d, struct vti_set *s, uint64_t number)
{
	s->w[number / 64 % d->words] |= UINT64_C(1) << number % 64;
}

/* As join(), of a set made when instruction `then` was at hand: words used anew since do not count.
 */
static void join_past(const struct vti_depends *d, struct vti_set *to, const struct vti_set *from,
		      uint64_t then)
{
	uint64_t word = then / 64, now = d->number / 64;
	unsigned i;

	for (i = 0; i < d->words; i++) {
		/* Word i was used for the last time, seen from `then`, so many words ago. */
		uint64_t ago = (word % d->words + d->words - i) % d->words;

		if (ago <= word && now - (word - ago) < d->words)
			to->w[i] |= from->w[i];
	}
}

bool vti_depends_init(struct vti_depends *d, unsigned words)
{
	d->words = words;
	d->past = calloc((size_t)words * 64, sizeof(*d->past));
	vti_depends_begin(d);
	return d->past != NULL;
}

void vti_depends_fini(struct vti_depends *d)
{
	free(d->past);
}

void vti_depends_begin(struct vti_depends *d)
{
	memset(d->access, 0, sizeof(d->access));
	memset(d->late, 0, sizeof(d->late));
	memset(d->lines, 0, sizeof(d->lines));
}

/* Joins the sets of all registers of a mask. */
static void gather(const struct vti_depends *d, uint64_t regs, struct vti_set *access,
		   struct vti_set *late)
{
	for (; regs; regs &= regs - 1) {
		int r = __builtin_ctzll(regs);

		join(d, access, &d->access[r]);
		join(d, late, &d->late[r]);
	}
}

static void use_word_anew(struct vti_depends *d)
{
	unsigned word = (unsigned)(d->number / 64 % d->words);
	int r;

	for (r = 0; r < VT_NREGS; r++)
		d->access[r].w[word] = d->late[r].w[word] = 0;
}

void vti_depends_open(struct vti_depends *d, uint64_t number, const struct vt_conflict_code *code)
{
	struct vti_set unused;

	d->number = number;
	if (number % 64 == 0)
		use_word_anew(d);
	d->loads = d->stores = false;
	clear(d, &d->all_access);
	clear(d, &d->all_late);
	clear(d, &d->loaded);
	clear(d, &d->loaded_late);
	clear(d, &d->load_access);
	clear(d, &d->load_late);
	clear(d, &d->store_late);
	gather(d, code->reads, &d->all_access, &d->all_late);
	if (code->loads)
		gather(d, code->loads, &d->load_access, &d->load_late);
	if (code->stores) {
		clear(d, &unused);
		gather(d, code->stores, &unused, &d->store_late);
	}
}

/*
 * A load of a line that another load has asked for gets it no earlier than that one.  One that a
 * store in flight has data for gets them as soon as that has.
 */
void vti_depends_load(struct vti_depends *d, const struct vt_access *a, bool forwarded)
{
	uint64_t line = a->addr / VTI_LINE_SIZE;
	struct vti_line *l = &d->lines[line % VTI_LINES];

	d->loads = true;
	if (forwarded)
		return;
	add(d, &d->loaded_late, d->number);
	if (!a->known)
		return;
	if (l->used && l->line == line && d->number > l->number &&
	    d->number - l->number < (uint64_t)(d->words - 1) * 64)
		join_past(d, &d->loaded_late,
			  &d->past[l->number % ((uint64_t)d->words * 64)].result_late, l->number);
	*l = (struct vti_line){line, d->number, true};
}

void vti_depends_store(struct vti_depends *d)
{
	d->stores = true;
}

static const struct vti_past *past(const struct vti_depends *d, uint64_t number)
{
	return &d->past[number % ((uint64_t)d->words * 64)];
}

void vti_depends_forward(struct vti_depends *d, uint64_t number)
{
	const struct vti_past *p = past(d, number);

	join_past(d, &d->loaded, &p->data, number);
	join_past(d, &d->loaded_late, &p->data_late, number);
	add(d, &d->loaded, number);
}

/* What the registers written depend on, `results` and what replaced their old values. */
static void write_registers(struct vti_depends *d, const struct vt_conflict_code *code,
			    const struct vti_set *access, const struct vti_set *late)
{
	uint64_t regs;

	for (regs = code->results; regs; regs &= regs - 1) {
		int r = __builtin_ctzll(regs);

		if (code->replaced >> r & 1) {
			copy(d, &d->access[r], access);
			copy(d, &d->late[r], late);
		} else {
			join(d, &d->access[r], access);
			join(d, &d->late[r], late);
		}
	}
}

/* A register that moves on with an address: leave's rsp is another register's old value. */
static void move_registers(struct vti_depends *d, const struct vt_conflict_code *code)
{
	struct vti_set access, late;
	uint64_t regs;

	clear(d, &access);
	clear(d, &late);
	gather(d, code->loads | code->stores, &access, &late);
	for (regs = code->updates; regs; regs &= regs - 1) {
		int r = __builtin_ctzll(regs);

		copy(d, &d->access[r], &access);
		copy(d, &d->late[r], &late);
	}
}

void vti_depends_close(struct vti_depends *d, const struct vt_conflict_code *code)
{
	if (code->updates)
		move_registers(d, code);
	join(d, &d->all_access, &d->loaded);
	join(d, &d->all_late, &d->loaded_late);
	if (d->loads)
		add(d, &d->all_access, d->number);
	if (code->slow)
		add(d, &d->all_late, d->number);
	if (d->loads || d->stores) {
		struct vti_past *p = &d->past[d->number % ((uint64_t)d->words * 64)];

		p->number = d->number;
		copy(d, &p->data, &d->all_access);
		copy(d, &p->data_late, &d->all_late);
		copy(d, &p->address_late, &d->store_late);
		copy(d, &p->result_late, &d->all_late);
	}
	write_registers(d, code, &d->all_access, &d->all_late);
}

bool vti_depends_may_pass(const struct vti_depends *d, uint64_t number)
{
	struct vti_set waits;
	unsigned i;

	clear(d, &waits);
	join_past(d, &waits, &past(d, number)->address_late, number);
	for (i = 0; i < d->words; i++)
		if (waits.w[i] & ~d->load_late.w[i])
			return true;
	return false;
}
