/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

/*
 * Valgrind drops translations when their table is full, and makes them again later.  A block that
 * is translated again keeps its id: this is the hash table of blocks with ids.
 */
struct block {
	struct block *next; /* in its chain */
	Addr addr;
	UInt hash;
	UInt id;
	UInt size;
	UInt ninsns;
	UInt nslots;
	UInt end;
	/* then the slots, the lengths, the code */
};

static struct block **chains;
static UInt nchains; /* a power of two */
static UInt nblocks;

static const ULong *get_block_slots(const struct block *b)
{
	return (const ULong *)(b + 1);
}

static const UChar *get_block_lengths(const struct block *b)
{
	return (const UChar *)(get_block_slots(b) + b->nslots);
}

static ULong mix_block_hash(ULong h, ULong x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static UInt hash_key(const struct block_key *key)
{
	ULong h = mix_block_hash(mix_block_hash(key->addr, key->size), key->end), x;
	UInt i;

	for (i = 0; i + 8 <= key->size; i += 8) {
		VG_(memcpy)(&x, key->code + i, 8);
		h = mix_block_hash(h, x);
	}
	for (; i < key->size; i++)
		h = mix_block_hash(h, key->code[i]);
	for (i = 0; i < key->nslots; i++)
		h = mix_block_hash(h, key->slots[i]);
	return h ^ h >> 32;
}

static Bool is_same_block(const struct block *b, const struct block_key *key, UInt hash)
{
	return b->hash == hash && b->addr == key->addr && b->size == key->size &&
	       b->ninsns == key->ninsns && b->nslots == key->nslots && b->end == key->end &&
	       VG_(memcmp)(get_block_slots(b), key->slots, key->nslots * sizeof(ULong)) == 0 &&
	       VG_(memcmp)(get_block_lengths(b), key->lengths, key->ninsns) == 0 &&
	       VG_(memcmp)(get_block_lengths(b) + b->ninsns, key->code, key->size) == 0;
}

static void grow_block_chains(void)
{
	UInt n = nchains ? nchains * 4 : 1u << 14, i;
	struct block **old = chains, *b, *next;

	chains = VG_(calloc)("vtrace.chains", n, sizeof(struct block *));
	for (i = 0; i < nchains; i++) {
		for (b = old[i]; b; b = next) {
			next = b->next;
			b->next = chains[b->hash & (n - 1)];
			chains[b->hash & (n - 1)] = b;
		}
	}
	if (old)
		VG_(free)(old);
	nchains = n;
}

static void put_block_event(const struct block_key *key, UInt id)
{
	SizeT slots = key->nslots * sizeof(ULong);
	struct vt_ring_block *r = ring_event(VT_RING_BLOCK, threads_current(),
					     sizeof(*r) + slots + key->ninsns + key->size);
	UChar *p;

	if (!r)
		return;
	r->addr = key->addr;
	r->target = key->target;
	r->id = id;
	r->size = key->size;
	r->ninsns = key->ninsns;
	r->nslots = key->nslots;
	r->data_size = key->data_size;
	r->end = key->end;
	p = (UChar *)(r + 1);
	VG_(memcpy)(p, key->slots, slots);
	VG_(memcpy)(p + slots, key->lengths, key->ninsns);
	VG_(memcpy)(p + slots + key->ninsns, key->code, key->size);
	ring_done();
}

static struct block *add_recorded_block(const struct block_key *key, UInt hash)
{
	SizeT slots = key->nslots * sizeof(ULong);
	struct block *b = VG_(malloc)("vtrace.block", sizeof(*b) + slots + key->ninsns + key->size);
	UChar *p = (UChar *)(b + 1);

	b->addr = key->addr;
	b->hash = hash;
	b->id = ring_new_id();
	b->size = key->size;
	b->ninsns = key->ninsns;
	b->nslots = key->nslots;
	b->end = key->end;
	VG_(memcpy)(p, key->slots, slots);
	VG_(memcpy)(p + slots, key->lengths, key->ninsns);
	VG_(memcpy)(p + slots + key->ninsns, key->code, key->size);
	if (nblocks++ >= nchains)
		grow_block_chains();
	b->next = chains[hash & (nchains - 1)];
	chains[hash & (nchains - 1)] = b;
	return b;
}

UInt block_id(const struct block_key *key)
{
	UInt hash = hash_key(key);
	struct block *b = nchains ? chains[hash & (nchains - 1)] : NULL;

	while (b && !is_same_block(b, key, hash))
		b = b->next;
	if (!b) {
		b = add_recorded_block(key, hash);
		put_block_event(key, b->id);
	}
	return b->id;
}

static const struct block *find_block_by_id(UInt id)
{
	const struct block *b;
	UInt i;

	for (i = 0; i < nchains; i++) {
		for (b = chains[i]; b; b = b->next) {
			if (b->id == id)
				return b;
		}
	}
	return NULL;
}

Bool block_before(UInt id, Addr ip, UInt *insns, UInt *data)
{
	const struct block *b = find_block_by_id(id);
	Addr at;
	UInt n, i;

	if (!b)
		return False;
	at = b->addr;
	for (n = 0; n < b->ninsns && at != ip; n++)
		at += get_block_lengths(b)[n];
	if (n == b->ninsns)
		return False;
	*insns = n;
	*data = 0;
	for (i = 0; i < b->nslots && (get_block_slots(b)[i] & 0xffff) < n; i++)
		*data += get_block_slots(b)[i] >> 32 & 0xffff;
	return True;
}

void block_forget(Addr addr, SizeT length)
{
	struct block **link, *b;
	UInt i;

	for (i = 0; i < nchains; i++) {
		for (link = &chains[i]; (b = *link);) {
			if (b->addr < addr + length && b->addr + b->size > addr) {
				*link = b->next;
				VG_(free)(b);
				nblocks--;
			} else {
				link = &b->next;
			}
		}
	}
}
