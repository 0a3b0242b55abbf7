/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/archive/tar.h"

#include <string.h>

#define BLOCK 512

/* Bytes of an extended header, which has a name and what else a writer wants to tell. */
#define EXTENDED_MAX ((uint64_t)1 << 20)

/* Such headers of one member. */
#define EXTENDED_COUNT 16

/* POSIX's header; unused fields are left out. */
enum {
	AT_NAME = 0,
	NAME_SIZE = 100,
	AT_SIZE = 124,
	SIZE_SIZE = 12,
	AT_SUM = 148,
	SUM_SIZE = 8,
	AT_TYPE = 156,
	AT_LINK = 157,
	AT_MAGIC = 257,
	AT_PREFIX = 345,
	PREFIX_SIZE = 155,
};

/* What an extended header says of the member that follows. */
struct extended {
	bool has_name, has_link, has_size, sparse;
	uint64_t size;
};

/* A number: octal digits, or GNU tar's, with the first bit set and the others in base 256. */
static bool parse_number(const uint8_t *p, size_t size, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	if (p[0] & 0x80) {
		*value = p[0] & 0x7f;
		for (i = 1; i < size; i++) {
			if (*value >> 55)
				return false;
			*value = *value << 8 | p[i];
		}
		return true;
	}
	while (i < size && p[i] == ' ')
		i++;
	for (; i < size && p[i] >= '0' && p[i] <= '7'; i++)
		*value = *value << 3 | (uint64_t)(p[i] - '0');
	return i == size || p[i] == ' ' || p[i] == '\0';
}

/* The sum of the header's bytes, its own field taken as blanks. */
static bool has_right_sum(const uint8_t *block)
{
	uint64_t want, sum = 0;
	size_t i;

	for (i = 0; i < BLOCK; i++)
		sum += i >= AT_SUM && i < AT_SUM + SUM_SIZE ? ' ' : block[i];
	return parse_number(block + AT_SUM, SUM_SIZE, &want) && want == sum;
}

static bool is_zero(const uint8_t *block)
{
	size_t i;

	for (i = 0; i < BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

int vt_tar_check(struct vt_input *in, struct vt_error *err)
{
	size_t have;
	int r = vt_input_fill(in, BLOCK, &have, err);

	if (r < 0)
		return r;
	return have >= BLOCK && (has_right_sum(vt_input_data(in)) || is_zero(vt_input_data(in)));
}

static int tell_cut(const struct vt_tar *t, struct vt_error *err)
{
	return vt_error_set(err, VT_E_TRUNC, "%s: the archive is cut off", t->in->name);
}

static int tell_damaged(const struct vt_tar *t, struct vt_error *err)
{
	return vt_error_set(err, VT_E_DAMAGED,
			    "%s: byte %llu of the archive: no header of a member", t->in->name,
			    (unsigned long long)t->in->offset);
}

/* ---- extended headers ---- */

static void set_text(struct vt_buf *b, const void *text, size_t size)
{
	b->size = 0;
	vt_buf_put(b, text, size);
}

/* Takes a record "key=value" of pax; false: it is no text, or no number. */
static bool take_pax_record(struct vt_tar *t, struct extended *e, const char *text, size_t size)
{
	const char *value = memchr(text, '=', size);
	size_t key = value ? (size_t)(value - text) : 0, n, i;

	if (!value)
		return false;
	n = size - key - 1;
	value++;
	/* Other values may be binary. */
	if ((key == 4 || key == 8) && memchr(value, '\0', n))
		return false;
	if (key == 4 && memcmp(text, "path", key) == 0) {
		set_text(&t->name, value, n);
		e->has_name = true;
	} else if (key == 8 && memcmp(text, "linkpath", key) == 0) {
		set_text(&t->link, value, n);
		e->has_link = true;
	} else if (key == 4 && memcmp(text, "size", key) == 0) {
		e->has_size = true;
		for (i = 0, e->size = 0; i < n; i++) {
			if (value[i] < '0' || value[i] > '9' || e->size > UINT64_MAX / 10 - 1)
				return false;
			e->size = e->size * 10 + (uint64_t)(value[i] - '0');
		}
	} else if (key > 10 && memcmp(text, "GNU.sparse", 10) == 0) {
		e->sparse = true;
	}
	return true;
}

/* Takes the records "SIZE key=value\n" of a pax header. */
static bool take_pax(struct vt_tar *t, struct extended *e, const char *p, size_t size)
{
	while (size) {
		size_t n = 0, i;

		for (i = 0; i < size && i < 8 && p[i] >= '0' && p[i] <= '9'; i++)
			n = n * 10 + (size_t)(p[i] - '0');
		if (i == size || p[i] != ' ' || n < i + 3 || n > size || p[n - 1] != '\n' ||
		    !take_pax_record(t, e, p + i + 1, n - i - 2))
			return false;
		p += n;
		size -= n;
	}
	return true;
}

static bool is_extended(uint8_t type)
{
	return type == 'x' || type == 'X' || type == 'g' || type == 'L' || type == 'K';
}

/* Reads what follows such a header. */
static int read_extended(struct vt_tar *t, struct extended *e, uint8_t type, uint64_t size,
			 struct vt_error *err)
{
	size_t padded = (size_t)(size + BLOCK - 1) / BLOCK * BLOCK, have;
	const char *p;
	bool ok = true;
	int r;

	if (size > EXTENDED_MAX)
		return vt_error_set(err, VT_E_LIMIT, "%s: a name of more than %llu bytes",
				    t->in->name, (unsigned long long)EXTENDED_MAX);
	r = vt_input_fill(t->in, padded, &have, err);
	if (r < 0)
		return r;
	if (have < padded)
		return tell_cut(t, err);
	p = (const char *)vt_input_data(t->in);
	if (type == 'L') {
		set_text(&t->name, p, strnlen(p, (size_t)size));
		e->has_name = true;
	} else if (type == 'K') {
		set_text(&t->link, p, strnlen(p, (size_t)size));
		e->has_link = true;
	} else if (type != 'g') {
		ok = take_pax(t, e, p, (size_t)size);
	}
	if (!ok)
		return tell_damaged(t, err);
	vt_input_consume(t->in, padded);
	return 0;
}

/* ---- members ---- */

static int skip_rest(struct vt_tar *t, struct vt_error *err)
{
	while (t->left || t->padding) {
		uint64_t *rest = t->left ? &t->left : &t->padding;
		size_t have;
		int r = vt_input_fill(t->in, 1, &have, err);

		if (r < 0)
			return r;
		if (!have)
			return tell_cut(t, err);
		if (have > *rest)
			have = (size_t)*rest;
		vt_input_consume(t->in, have);
		*rest -= have;
	}
	return 0;
}

/* Reads a header and checks it: 1; 0: the end; or a negative error. */
static int read_header(struct vt_tar *t, uint8_t *block, uint64_t *size, struct vt_error *err)
{
	size_t have;
	int r = vt_input_fill(t->in, BLOCK, &have, err);

	if (r < 0)
		return r;
	if (have < BLOCK)
		return tell_cut(t, err);
	memcpy(block, vt_input_data(t->in), BLOCK);
	if (is_zero(block))
		return 0;
	if (!has_right_sum(block) || !parse_number(block + AT_SIZE, SIZE_SIZE, size))
		return tell_damaged(t, err);
	vt_input_consume(t->in, BLOCK);
	return 1;
}

static void take_names(struct vt_tar *t, const struct extended *e, const uint8_t *block)
{
	const char *name = (const char *)block + AT_NAME, *prefix = (const char *)block + AT_PREFIX;
	const char *link = (const char *)block + AT_LINK;

	if (!e->has_name) {
		t->name.size = 0;
		/* GNU tar has something else there. */
		if (memcmp(block + AT_MAGIC, "ustar", 6) == 0 && *prefix) {
			set_text(&t->name, prefix, strnlen(prefix, PREFIX_SIZE));
			vt_buf_put_u8(&t->name, '/');
		}
		vt_buf_put(&t->name, name, strnlen(name, NAME_SIZE));
	}
	if (!e->has_link)
		set_text(&t->link, link, strnlen(link, NAME_SIZE));
}

static enum vt_tar_type get_type(const struct vt_tar *t, uint8_t type)
{
	switch (type) {
	case '\0':
		/* The oldest archives tell of directories so. */
		if (t->name.size && t->name.data[t->name.size - 1] == '/')
			return VT_TAR_DIR;
		return VT_TAR_FILE;
	case '0':
	case '7':
		return VT_TAR_FILE;
	case '1':
		return VT_TAR_HARDLINK;
	case '2':
		return VT_TAR_SYMLINK;
	case '5':
		return VT_TAR_DIR;
	default:
		return VT_TAR_OTHER;
	}
}

static int set_member(struct vt_tar *t, const struct extended *e, struct vt_tar_member *m,
		      const uint8_t *block, uint64_t size, struct vt_error *err)
{
	take_names(t, e, block);
	m->type = e->sparse ? VT_TAR_OTHER : get_type(t, block[AT_TYPE]);
	m->name = vt_buf_str(&t->name);
	m->link =
		m->type == VT_TAR_SYMLINK || m->type == VT_TAR_HARDLINK ? vt_buf_str(&t->link) : "";
	m->size = m->type != VT_TAR_FILE && m->type != VT_TAR_OTHER ? 0
		  : e->has_size					    ? e->size
								    : size;
	if (t->name.failed || t->link.failed)
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", t->in->name);
	if (t->name.size > VT_TAR_NAME_MAX || t->link.size > VT_TAR_NAME_MAX)
		return vt_error_set(err, VT_E_LIMIT, "%s: a name of more than %d bytes",
				    t->in->name, VT_TAR_NAME_MAX);
	t->left = m->size;
	t->padding = (BLOCK - m->size % BLOCK) % BLOCK;
	return 1;
}

int vt_tar_next(struct vt_tar *t, struct vt_tar_member *m, struct vt_error *err)
{
	struct extended e = {.size = 0};
	uint8_t block[BLOCK] = {0};
	unsigned i;
	uint64_t size = 0;
	int r = skip_rest(t, err);

	for (i = 0; r >= 0 && i < EXTENDED_COUNT; i++) {
		r = read_header(t, block, &size, err);
		if (r <= 0)
			return r;
		if (!is_extended(block[AT_TYPE]))
			return set_member(t, &e, m, block, size, err);
		r = read_extended(t, &e, block[AT_TYPE], size, err);
	}
	return r < 0 ? r : tell_damaged(t, err);
}

int vt_tar_read(struct vt_tar *t, const uint8_t **bytes, size_t *size, struct vt_error *err)
{
	size_t have;
	int r;

	if (!t->left)
		return 0;
	r = vt_input_fill(t->in, 1, &have, err);
	if (r < 0)
		return r;
	if (!have)
		return tell_cut(t, err);
	*bytes = vt_input_data(t->in);
	*size = have < t->left ? have : (size_t)t->left;
	vt_input_consume(t->in, *size);
	t->left -= *size;
	return 1;
}

void vt_tar_fini(struct vt_tar *t)
{
	vt_buf_free(&t->name);
	vt_buf_free(&t->link);
}
