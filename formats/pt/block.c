/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/block.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MAX_LENGTH  15	  /* bytes of an instruction */
#define FIRST_SLOTS 512	  /* a power of two */
#define CHUNK_SIZE  65536 /* bytes; more than the longest block has */
#define EPOCHS	    (1U << 24)

/* Kinds of keys, besides the modes 16, 32 and 64. */
#define KIND_CUT 1

/*
 * A slot of the hash table: the block that is entered at the address `key`, or a block cut from
 * another one, where the key is that one's index and the number of instructions.
 */
struct vti_pt_block_slot {
	uint64_t key;
	uint32_t tag; /* the kind, and the epoch above it; 0: free */
	uint32_t index;
};

struct vti_pt_block_chunk {
	struct vti_pt_block_chunk *next;
	size_t used;
	uint8_t bytes[CHUNK_SIZE];
};

struct vt_pt_blocks *vt_pt_blocks_new(const struct vt_pt_code *code)
{
	struct vt_pt_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->code = code;
	b->generation = vt_pt_code_generation(code);
	b->slots = calloc(FIRST_SLOTS, sizeof(*b->slots));
	if (!b->slots) {
		free(b);
		return NULL;
	}
	b->mask = FIRST_SLOTS - 1;
	return b;
}

void vt_pt_blocks_free(struct vt_pt_blocks *b)
{
	struct vti_pt_block_chunk *c, *next;

	if (!b)
		return;
	for (c = b->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(b->slots);
	free(b->lengths);
	free(b->bytes);
	free(b->blocks);
	free(b);
}

/* ---- the table ---- */

static size_t hash_block_key(uint64_t key, unsigned kind)
{
	uint64_t h = (key ^ kind) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(h ^ h >> 32);
}

/* The slot of a key, or the free slot where it belongs. */
static struct vti_pt_block_slot *find_block_slot(const struct vt_pt_blocks *b, uint64_t key,
						 unsigned kind)
{
	size_t i;

	for (i = hash_block_key(key, kind) & b->mask;; i = (i + 1) & b->mask) {
		struct vti_pt_block_slot *s = &b->slots[i];

		if (!s->tag || (s->key == key && (s->tag & 0xff) == kind))
			return s;
	}
}

static int grow_block_slots(struct vt_pt_blocks *b)
{
	struct vti_pt_block_slot *old = b->slots;
	const size_t n = b->mask + 1;
	size_t i;

	b->slots = calloc(n * 2, sizeof(*old));
	if (!b->slots) {
		b->slots = old;
		return -VT_E_NOMEM;
	}
	b->mask = n * 2 - 1;
	for (i = 0; i < n; i++) {
		if (old[i].tag)
			*find_block_slot(b, old[i].key, old[i].tag & 0xff) = old[i];
	}
	free(old);
	return 0;
}

static int add_block_slot(struct vt_pt_blocks *b, struct vti_pt_block_slot *s, uint64_t key,
			  unsigned kind, uint32_t index)
{
	if (b->used * 2 > b->mask) {
		if (grow_block_slots(b) < 0)
			return -VT_E_NOMEM;
		s = find_block_slot(b, key, kind);
	}
	s->key = key;
	s->tag = b->epoch << 8 | kind;
	s->index = index;
	b->used++;
	return 0;
}

/* ---- decoding ---- */

/* Makes room for a block of the greatest length. */
static int reserve_block(struct vt_pt_blocks *b)
{
	if (b->count == VT_PT_NO_ID || b->nlengths > UINT32_MAX - VT_PT_MAX_INSNS ||
	    !vt_array_grow(&b->blocks, &b->cap, (size_t)b->count + 1, sizeof(*b->blocks)) ||
	    !vt_array_grow(&b->bytes, &b->bytes_cap, (size_t)b->count + 1, sizeof(*b->bytes)) ||
	    !vt_array_grow(&b->lengths, &b->lengths_cap, b->nlengths + VT_PT_MAX_INSNS, 1))
		return -VT_E_NOMEM;
	return 0;
}

static uint8_t *alloc_chunk(struct vt_pt_blocks *b, size_t size)
{
	struct vti_pt_block_chunk *c = b->chunks;
	uint8_t *p;

	if (!c || CHUNK_SIZE - c->used < size) {
		c = malloc(sizeof(*c));
		if (!c)
			return NULL;
		c->used = 0;
		c->next = b->chunks;
		b->chunks = c;
	}
	p = c->bytes + c->used;
	c->used += size;
	return p;
}

/* The position of decoding. */
struct fetch {
	const uint8_t *p;
	size_t left; /* bytes left in the section */
	bool apart;  /* the block's bytes are not contiguous in memory */
};

static void fetch_section(const struct vt_pt_blocks *b, struct fetch *f, uint64_t ip)
{
	const uint8_t *p = vt_pt_code_at(b->code, ip, &f->left);

	f->apart = f->apart || (f->p && p && p != f->p);
	f->p = p;
}

/* Decodes an instruction that does not end in its section. */
static unsigned decode_across(const struct vt_pt_blocks *b, struct fetch *f, struct vt_pt_block *k,
			      uint8_t *mark)
{
	uint8_t bytes[MAX_LENGTH];
	const size_t have = vt_pt_code_read(b->code, k->next, bytes, sizeof(bytes));
	const unsigned n =
		vt_pt_insn_classify(bytes, have, k->mode, k->next, &k->end, &k->target, mark);

	f->left = 0;
	f->apart = f->apart || n;
	return n;
}

/* Decodes the block at k->addr; its bytes in memory begin at f->p. */
static void decode_block_insns(struct vt_pt_blocks *b, struct vt_pt_block *k, struct fetch *f)
{
	uint8_t *lengths = b->lengths + b->nlengths;
	unsigned n, insns = 0;
	uint8_t mark;

	do {
		if (!f->left) {
			fetch_section(b, f, k->next);
			if (!f->p) {
				k->end = VT_PT_END_NO_CODE;
				break;
			}
		}
		n = vt_pt_insn_classify(f->p, f->left, k->mode, k->next, &k->end, &k->target,
					&mark);
		if (n) {
			f->p += n;
			f->left -= n;
		} else if (f->left < MAX_LENGTH) {
			n = decode_across(b, f, k, &mark);
		}
		if (!n) {
			k->end = VT_PT_END_BAD_CODE;
			break;
		}
		lengths[insns++] = (uint8_t)n;
		k->marks |= mark;
		k->last = (uint16_t)n;
		k->next += n;
	} while (k->end == VT_PT_END_FALL && insns < VT_PT_MAX_INSNS);
	k->insns = (uint16_t)insns;
	k->size = (uint32_t)(k->next - k->addr);
}

/* Decodes a block after the last one, without adding it. */
static int decode_new(struct vt_pt_blocks *b, uint64_t ip, unsigned mode)
{
	struct vt_pt_block *k;
	struct fetch f = {.apart = false};
	const uint8_t *bytes;
	uint8_t *copy;
	size_t n;

	if (reserve_block(b) < 0)
		return -VT_E_NOMEM;
	k = &b->blocks[b->count];
	*k = (struct vt_pt_block){.addr = ip,
				  .next = ip,
				  .mode = (uint8_t)mode,
				  .lengths = (uint32_t)b->nlengths,
				  .id = VT_PT_NO_ID};
	fetch_section(b, &f, ip);
	bytes = f.p;
	decode_block_insns(b, k, &f);
	if (f.apart) {
		copy = alloc_chunk(b, k->size);
		if (!copy)
			return -VT_E_NOMEM;
		n = vt_pt_code_read(b->code, ip, copy, k->size);
		/* A block may continue at address 0, where reading stops. */
		if (n < k->size)
			vt_pt_code_read(b->code, ip + n, copy + n, k->size - n);
		bytes = copy;
	}
	b->bytes[b->count] = bytes;
	return 0;
}

/* True if the code of a block is still that which was decoded. */
static bool is_block_unchanged(const struct vt_pt_blocks *b, uint32_t index)
{
	const struct vt_pt_block *k = &b->blocks[index];
	const uint8_t *old = b->bytes[index], *p;
	uint64_t at = 0;
	size_t have;

	while (at < k->size) {
		p = vt_pt_code_at(b->code, k->addr + at, &have);
		if (!p)
			return false;
		if (have > k->size - at)
			have = (size_t)(k->size - at);
		if (p != old + at && memcmp(p, old + at, have) != 0)
			return false;
		at += have;
	}
	return true;
}

/*
 * Checks a block after the code has changed.  If it ended because there was no code it is decoded
 * again, since it may continue now.
 */
static int renew_block(struct vt_pt_blocks *b, struct vti_pt_block_slot *s)
{
	const struct vt_pt_block *k = &b->blocks[s->index], *anew;
	bool same = is_block_unchanged(b, s->index);

	if (same && (k->end == VT_PT_END_NO_CODE || k->end == VT_PT_END_BAD_CODE)) {
		if (decode_new(b, k->addr, k->mode) < 0)
			return -VT_E_NOMEM;
		k = &b->blocks[s->index];
		anew = &b->blocks[b->count];
		same = anew->size == k->size && anew->end == k->end;
	} else if (!same) {
		if (decode_new(b, k->addr, k->mode) < 0)
			return -VT_E_NOMEM;
	}
	if (!same) {
		s->index = b->count;
		b->nlengths += b->blocks[b->count].insns;
		b->count++;
	}
	s->tag = b->epoch << 8 | (s->tag & 0xff);
	return 0;
}

static void begin_block_epoch(struct vt_pt_blocks *b)
{
	b->generation = vt_pt_code_generation(b->code);
	if (++b->epoch < EPOCHS)
		return;
	/* Epochs are numbered from 0 again: no slots of old epochs may be left. */
	memset(b->slots, 0, (b->mask + 1) * sizeof(*b->slots));
	b->used = 0;
	b->epoch = 0;
}

int vt_pt_blocks_at(struct vt_pt_blocks *b, uint64_t ip, unsigned mode, uint32_t *index)
{
	struct vti_pt_block_slot *s;

	if (vt_pt_code_generation(b->code) != b->generation)
		begin_block_epoch(b);
	s = find_block_slot(b, ip, mode);
	if (!s->tag) {
		if (decode_new(b, ip, mode) < 0 || add_block_slot(b, s, ip, mode, b->count) < 0)
			return -VT_E_NOMEM;
		*index = b->count;
		b->nlengths += b->blocks[b->count].insns;
		b->count++;
		return 0;
	}
	if (s->tag >> 8 != b->epoch && renew_block(b, s) < 0)
		return -VT_E_NOMEM;
	*index = s->index;
	return 0;
}

/* Cuts `k`, a copy of another block, to its first `insns` instructions; none of them branches. */
static void shorten_block(const struct vt_pt_blocks *b, struct vt_pt_block *k, const uint8_t *bytes,
			  unsigned insns)
{
	const uint8_t *lengths = b->lengths + k->lengths;
	unsigned i;

	k->insns = (uint16_t)insns;
	k->size = 0;
	k->marks = 0;
	for (i = 0; i < insns; i++) {
		uint8_t mark;

		vt_pt_insn_classify(bytes + k->size, lengths[i], k->mode, 0, &k->end, &k->target,
				    &mark);
		k->marks |= mark;
		k->size += lengths[i];
	}
	k->next = k->addr + k->size;
	k->last = lengths[insns - 1];
	k->id = VT_PT_NO_ID;
}

int vt_pt_blocks_cut(struct vt_pt_blocks *b, uint32_t index, unsigned insns, uint32_t *cut)
{
	const uint64_t key = (uint64_t)index * VT_PT_MAX_INSNS + insns;
	struct vti_pt_block_slot *s = find_block_slot(b, key, KIND_CUT);

	if (!s->tag) {
		if (reserve_block(b) < 0 || add_block_slot(b, s, key, KIND_CUT, b->count) < 0)
			return -VT_E_NOMEM;
		b->blocks[b->count] = b->blocks[index];
		b->bytes[b->count] = b->bytes[index];
		shorten_block(b, &b->blocks[b->count], b->bytes[index], insns);
		*cut = b->count++;
		return 0;
	}
	*cut = s->index;
	return 0;
}

enum vt_block_end vt_pt_end_kind(unsigned end)
{
	static const uint8_t kinds[] = {
		[VT_PT_END_FALL] = VT_END_FALL,
		[VT_PT_END_JUMP] = VT_END_JUMP,
		[VT_PT_END_CALL] = VT_END_CALL,
		[VT_PT_END_COND] = VT_END_BRANCH,
		[VT_PT_END_RET] = VT_END_RETURN,
		[VT_PT_END_JUMP_INDIRECT] = VT_END_JUMP_INDIRECT,
		[VT_PT_END_CALL_INDIRECT] = VT_END_CALL_INDIRECT,
		[VT_PT_END_FAR_CALL] = VT_END_SYSCALL,
		[VT_PT_END_FAR_RET] = VT_END_OTHER,
		[VT_PT_END_FAR_JUMP] = VT_END_OTHER,
		[VT_PT_END_NO_CODE] = VT_END_FALL,
		[VT_PT_END_BAD_CODE] = VT_END_FALL,
	};

	return kinds[end];
}
