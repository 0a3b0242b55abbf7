/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/db/places.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bytes.h"

#define PACKED_VERSION	   1
#define COMPRESSED_VERSION 2

/* The least bytes of a packed place. */
#define PACKED_MIN 2

/* zlib's best level that is not slow. */
#define LEVEL 9

/* RFC 1951: 258 bytes take at least 2 bits, so a higher ratio is damage. */
#define MAX_RATIO 1032

/* Adds within the limit of a database: a signed number of 64 bits. */
static bool add_capped(uint64_t *sum, uint64_t v)
{
	if (v > INT64_MAX || *sum > INT64_MAX - v)
		return false;
	*sum += v;
	return true;
}

static int report_overflow(struct vt_error *err)
{
	return vt_error_set(err, VT_E_LIMIT, "more samples than can be counted");
}

void vt_db_places_fini(struct vt_db_places *p)
{
	free(p->items);
	*p = (struct vt_db_places){.items = NULL};
}

int vt_db_places_add(struct vt_db_places *p, const struct vt_db_place *place, struct vt_error *err)
{
	struct vt_db_place *last = p->count ? &p->items[p->count - 1] : NULL;

	if (last && last->offset == place->offset) {
		if (!add_capped(&last->samples, place->samples) ||
		    !add_capped(&last->period, place->period))
			return report_overflow(err);
		return 0;
	}
	if (!vt_array_grow(&p->items, &p->cap, p->count + 1, sizeof(*p->items)))
		return vt_error_nomem(err);
	p->items[p->count++] = *place;
	return 0;
}

int vt_db_places_sum(const struct vt_db_places *p, uint64_t *samples, uint64_t *period,
		     struct vt_error *err)
{
	size_t i;

	*samples = *period = 0;
	for (i = 0; i < p->count; i++)
		if (!add_capped(samples, p->items[i].samples) ||
		    !add_capped(period, p->items[i].period))
			return report_overflow(err);
	return 0;
}

int vt_db_places_merge(struct vt_db_places *p, const struct vt_db_places *more,
		       struct vt_error *err)
{
	struct vt_db_places sum = {.items = NULL};
	size_t i = 0, k = 0;
	int code = 0;

	while (code == 0 && (i < p->count || k < more->count)) {
		bool mine = k == more->count ||
			    (i < p->count && p->items[i].offset <= more->items[k].offset);

		code = vt_db_places_add(&sum, mine ? &p->items[i++] : &more->items[k++], err);
	}
	if (code < 0) {
		vt_db_places_fini(&sum);
		return code;
	}
	vt_db_places_fini(p);
	*p = sum;
	return 0;
}

/* The period of each sample, if all have the same; else 0. */
static uint64_t find_common_period(const struct vt_db_places *p)
{
	uint64_t period = 0;
	size_t i;

	for (i = 0; i < p->count; i++) {
		const struct vt_db_place *at = &p->items[i];

		if (at->samples == 0 || at->period % at->samples != 0)
			return 0;
		if (i == 0)
			period = at->period / at->samples;
		else if (at->period / at->samples != period)
			return 0;
	}
	return period;
}

static void pack_plain(const struct vt_db_places *p, struct vt_buf *out)
{
	uint64_t common = find_common_period(p);
	uint64_t offset = 0;
	size_t i;

	vt_buf_put_varint(out, PACKED_VERSION);
	vt_buf_put_varint(out, p->count);
	vt_buf_put_varint(out, common);
	for (i = 0; i < p->count; i++) {
		vt_buf_put_varint(out, p->items[i].offset - offset);
		vt_buf_put_varint(out, p->items[i].samples);
		if (!common)
			vt_buf_put_varint(out, p->items[i].period);
		offset = p->items[i].offset;
	}
}

/* Appends the bytes compressed, if that is shorter; else, or without memory, nothing. */
static bool compress(const struct vt_buf *plain, struct vt_buf *out)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
	struct vt_buf packed = VT_BUF_INIT;
	uint8_t *room;
	size_t size = 0;

	if (!c)
		return false;
	vt_buf_put_varint(&packed, COMPRESSED_VERSION);
	vt_buf_put_varint(&packed, plain->size);
	/* It fails if there is not enough room: then compression is of no use. */
	room = vt_buf_reserve(&packed, plain->size);
	if (room)
		size = libdeflate_zlib_compress(c, plain->data, plain->size, room, plain->size);
	libdeflate_free_compressor(c);
	packed.size += size;
	if (size && packed.size >= plain->size)
		size = 0;
	if (size)
		vt_buf_put(out, packed.data, packed.size);
	vt_buf_free(&packed);
	return size;
}

void vt_db_places_pack(const struct vt_db_places *p, struct vt_buf *out)
{
	struct vt_buf plain = VT_BUF_INIT;

	pack_plain(p, &plain);
	out->failed |= plain.failed;
	if (!plain.failed && !compress(&plain, out))
		vt_buf_put(out, plain.data, plain.size);
	vt_buf_free(&plain);
}

static bool unpack_place(struct vt_cursor *c, uint64_t common, uint64_t *offset,
			 struct vt_db_place *place)
{
	uint64_t distance = vt_cursor_varint(c);

	place->offset = *offset + distance;
	place->samples = vt_cursor_varint(c);
	if (common && place->samples > UINT64_MAX / common)
		return false;
	place->period = common ? place->samples * common : vt_cursor_varint(c);
	if (c->bad || place->offset < *offset)
		return false;
	*offset = place->offset;
	return true;
}

static int report_damaged_profile(struct vt_error *err)
{
	return vt_error_set(err, VT_E_DAMAGED, "a profile is damaged");
}

static int unpack_plain(struct vt_db_places *p, struct vt_cursor *c, struct vt_error *err)
{
	uint64_t count = vt_cursor_varint(c);
	uint64_t common = vt_cursor_varint(c);
	uint64_t offset = 0, i;

	if (c->bad || count > vt_cursor_left(c) / PACKED_MIN)
		return report_damaged_profile(err);
	if (!vt_array_grow(&p->items, &p->cap, count, sizeof(*p->items)))
		return vt_error_nomem(err);
	for (i = 0; i < count; i++) {
		struct vt_db_place place;

		if (!unpack_place(c, common, &offset, &place) ||
		    (i > 0 && place.offset == p->items[i - 1].offset))
			return report_damaged_profile(err);
		p->items[p->count++] = place;
	}
	return vt_cursor_left(c) ? report_damaged_profile(err) : 0;
}

static int unpack_compressed(struct vt_db_places *p, struct vt_cursor *c, struct vt_error *err)
{
	uint64_t size = vt_cursor_varint(c);
	struct libdeflate_decompressor *d;
	enum libdeflate_result result;
	struct vt_cursor plain;
	uint8_t *bytes;
	size_t taken;
	int code;

	if (c->bad || size / MAX_RATIO > vt_cursor_left(c))
		return report_damaged_profile(err);
	d = libdeflate_alloc_decompressor();
	bytes = malloc(size + 1);
	if (!d || !bytes) {
		libdeflate_free_decompressor(d);
		free(bytes);
		return vt_error_nomem(err);
	}
	result = libdeflate_zlib_decompress_ex(d, c->p, vt_cursor_left(c), bytes, size, &taken,
					       NULL);
	libdeflate_free_decompressor(d);
	plain = vt_cursor_make(bytes, size, false);
	if (result != LIBDEFLATE_SUCCESS || taken != vt_cursor_left(c) ||
	    vt_cursor_varint(&plain) != PACKED_VERSION)
		code = report_damaged_profile(err);
	else
		code = unpack_plain(p, &plain, err);
	free(bytes);
	return code;
}

int vt_db_places_unpack(struct vt_db_places *p, const void *data, size_t size, struct vt_error *err)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	uint64_t version = vt_cursor_varint(&c);
	int code;

	*p = (struct vt_db_places){.items = NULL};
	if (c.bad)
		return report_damaged_profile(err);
	if (version == PACKED_VERSION)
		code = unpack_plain(p, &c, err);
	else if (version == COMPRESSED_VERSION)
		code = unpack_compressed(p, &c, err);
	else
		return vt_error_set(err, VT_E_VERSION, "a profile in a later version's format");
	if (code < 0)
		vt_db_places_fini(p);
	return code;
}
