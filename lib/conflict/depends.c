/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "conflict/conflict_internal.h"

static void join_set(const struct vti_depends *d, struct vti_set *to, const struct vti_set *from)
{
	unsigned i;

	for (i = 0; i < d->words / VTI_FOUR; i++)
		to->v[i] |= from->v[i];
}

static void copy_set(const struct vti_depends *d, struct vti_set *to, const struct vti_set *from)
{
	unsigned i;

	for (i = 0; i < d->words / VTI_FOUR; i++)
		to->v[i] = from->v[i];
}

static void clear_set(const struct vti_depends *d, struct vti_set *s)
{
	const vti_four none = {0};
	unsigned i;

	for (i = 0; i < d->words / VTI_FOUR; i++)
		s->v[i] = none;
}

static void add_to_set(const struct vti_depends *d, struct vti_set *s, uint64_t number)
{
	s->w[number / 64 & (d->words - 1)] |= UINT64_C(1) << number % 64;
}

/*
 * As join_set(), of a set made when instruction `then` was at hand: words used anew since do not
 * count.
 */
static void join_past(const struct vti_depends *d, struct vti_set *to, const struct vti_set *from,
		      uint64_t then)
{
	uint64_t last = then / 64, now = d->number / 64, word;

	if (now == last) {
		join_set(d, to, from);
		return;
	}
	for (word = now < d->words ? 0 : now - d->words + 1; word <= last; word++)
		to->w[word & (d->words - 1)] |= from->w[word & (d->words - 1)];
}

bool vti_depends_init(struct vti_depends *d, uint64_t window)
{
	size_t size;

	/* The word that is used anew has none of the window. */
	for (d->words = VTI_FOUR; 64 * (uint64_t)(d->words - 1) < window; d->words *= 2)
		;
	d->window = window;
	size = 64 * (size_t)d->words * sizeof(*d->past);
	d->past = aligned_alloc(VTI_HOST_LINE, size);
	if (d->past)
		memset(d->past, 0, size);
	vti_depends_begin(d);
	return d->past != NULL;
}

void vti_depends_fini(struct vti_depends *d)
{
	free(d->past);
}

/* The sets of registers are cleared word by word, when each is used anew. */
void vti_depends_begin(struct vti_depends *d)
{
	memset(d->lines, 0, sizeof(d->lines));
}

/* The sets of all registers of a mask. */
static void join_register_sets(const struct vti_depends *d, struct vti_set *to,
			       const struct vti_set *of, uint64_t regs)
{
	clear_set(d, to);
	for (; regs; regs &= regs - 1)
		join_set(d, to, &of[__builtin_ctzll(regs)]);
}

static void use_word_anew(struct vti_depends *d)
{
	unsigned word = (unsigned)(d->number / 64 & (d->words - 1));
	int r;

	for (r = 0; r < VT_NREGS; r++)
		d->access[r].w[word] = d->late[r].w[word] = 0;
}

void vti_depends_open(struct vti_depends *d, uint64_t number, const struct vt_conflict_code *code,
		      bool memory)
{
	d->number = number;
	d->loads = d->stores = false;
	if (number % 64 == 0)
		use_word_anew(d);
	if (!memory && !code->results)
		return;
	join_register_sets(d, &d->all_access, d->access, code->reads);
	join_register_sets(d, &d->all_late, d->late, code->reads);
	if (!memory)
		return;
	clear_set(d, &d->loaded);
	clear_set(d, &d->loaded_late);
	join_register_sets(d, &d->load_access, d->access, code->loads);
	join_register_sets(d, &d->load_late, d->late, code->loads);
	join_register_sets(d, &d->store_late, d->late, code->stores);
}

static struct vti_past *get_past(const struct vti_depends *d, uint64_t number)
{
	return &d->past[number & ((uint64_t)d->words * 64 - 1)];
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
	add_to_set(d, &d->loaded_late, d->number);
	if (!a->known || a->base)
		return;
	if (l->used && l->line == line && d->number > l->number &&
	    d->number - l->number <= d->window)
		join_past(d, &d->loaded_late, &get_past(d, l->number)->data_late, l->number);
	*l = (struct vti_line){line, d->number, true};
}

void vti_depends_store(struct vti_depends *d)
{
	d->stores = true;
}

void vti_depends_forward(struct vti_depends *d, uint64_t number)
{
	const struct vti_past *p = get_past(d, number);

	join_past(d, &d->loaded, &p->data, number);
	join_past(d, &d->loaded_late, &p->data_late, number);
	add_to_set(d, &d->loaded, number);
}

/* What the registers written depend on, `results` and what replaced their old values. */
static void write_registers(struct vti_depends *d, const struct vt_conflict_code *code,
			    const struct vti_set *access, const struct vti_set *late)
{
	uint64_t regs;

	for (regs = code->results; regs; regs &= regs - 1) {
		int r = __builtin_ctzll(regs);

		if (code->replaced >> r & 1) {
			copy_set(d, &d->access[r], access);
			copy_set(d, &d->late[r], late);
		} else {
			join_set(d, &d->access[r], access);
			join_set(d, &d->late[r], late);
		}
	}
}

/* A register that moves on with an address: leave's rsp is another register's old value. */
static void move_registers(struct vti_depends *d, const struct vt_conflict_code *code)
{
	struct vti_set access, late;
	uint64_t regs;

	join_register_sets(d, &access, d->access, code->loads | code->stores);
	join_register_sets(d, &late, d->late, code->loads | code->stores);
	for (regs = code->updates; regs; regs &= regs - 1) {
		int r = __builtin_ctzll(regs);

		copy_set(d, &d->access[r], &access);
		copy_set(d, &d->late[r], &late);
	}
}

/* What the window remembers of an instruction at hand that accesses memory. */
static void store_past(struct vti_depends *d)
{
	struct vti_past *p = get_past(d, d->number);

	copy_set(d, &p->data_late, &d->all_late);
	if (!d->stores)
		return;
	copy_set(d, &p->data, &d->all_access);
	copy_set(d, &p->address_late, &d->store_late);
}

void vti_depends_close(struct vti_depends *d, const struct vt_conflict_code *code)
{
	bool memory = d->loads || d->stores;

	if (code->updates)
		move_registers(d, code);
	if (!memory && !code->results)
		return;
	if (d->loads) {
		join_set(d, &d->all_access, &d->loaded);
		join_set(d, &d->all_late, &d->loaded_late);
		add_to_set(d, &d->all_access, d->number);
	}
	if (code->slow)
		add_to_set(d, &d->all_late, d->number);
	if (memory)
		store_past(d);
	write_registers(d, code, &d->all_access, &d->all_late);
}

bool vti_depends_may_pass(const struct vti_depends *d, uint64_t number)
{
	const struct vti_set *store = &get_past(d, number)->address_late;
	uint64_t oldest = d->number > d->window ? d->number - d->window : 0, word;

	for (word = oldest / 64; word <= number / 64; word++) {
		uint64_t i = word & (d->words - 1), waits = store->w[i] & ~d->load_late.w[i];

		if (word == oldest / 64)
			waits &= UINT64_MAX << oldest % 64;
		if (waits)
			return true;
	}
	return false;
}
