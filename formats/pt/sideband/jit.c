/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/jit.h"

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

#define MAGIC	    0x4a695444u /* "JiTD", in the byte order of the writer */
#define HEADER_MIN  40
#define PREFIX_SIZE 16 /* of a record: id, size, time stamp */
#define FLAGS_AT    32
#define CODE_LOAD   0

#define FLAG_ARCH_TIMESTAMP 1u

bool vti_pt_jit_named(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t digits;

	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && strcmp(name + 4 + digits, ".dump") == 0;
}

bool vti_pt_jit_open(struct vti_pt_jit *j, const char *symfs, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf name = VT_BUF_INIT;
	struct vt_cursor c;
	uint32_t size;
	bool ok;

	*j = (struct vti_pt_jit){.at = 0};
	vt_buf_printf(&name, "%s%s", symfs ? symfs : "", path);
	ok = !name.failed && vti_pt_file_map(&j->file, vt_buf_str(&name), &err) == 0;
	vt_buf_free(&name);
	if (!ok)
		return false;
	if (j->file.size < HEADER_MIN ||
	    (vt_le32(j->file.bytes) != MAGIC && vt_be32(j->file.bytes) != MAGIC)) {
		vti_pt_jit_close(j);
		return false;
	}
	j->big = vt_le32(j->file.bytes) != MAGIC;
	c = vt_cursor_make(j->file.bytes + 8, 4, j->big);
	size = vt_cursor_u32(&c);
	j->at = size < HEADER_MIN ? HEADER_MIN : size;
	c = vt_cursor_make(j->file.bytes + FLAGS_AT, 8, j->big);
	j->ticks = (vt_cursor_u64(&c) & FLAG_ARCH_TIMESTAMP) != 0;
	return true;
}

void vti_pt_jit_close(struct vti_pt_jit *j)
{
	vti_pt_file_unmap(&j->file);
}

static bool parse_load(const struct vti_pt_jit *j, struct vt_cursor *c, struct vti_pt_jit_code *out)
{
	const uint8_t *zero;

	vt_cursor_u64(c); /* pid, tid */
	vt_cursor_u64(c); /* the address in the dump's own terms */
	out->addr = vt_cursor_u64(c);
	out->size = vt_cursor_u64(c);
	vt_cursor_u64(c); /* index */
	zero = c->bad ? NULL : memchr(c->p, 0, vt_cursor_left(c));
	if (!zero)
		return false;
	c->p = zero + 1;
	out->bytes = vt_cursor_take(c, out->size);
	if (!out->bytes || !out->size)
		return false;
	out->offset = (uint64_t)(out->bytes - j->file.bytes);
	return true;
}

bool vti_pt_jit_next(struct vti_pt_jit *j, struct vti_pt_jit_code *out)
{
	while (j->file.bytes && j->at < j->file.size && j->file.size - j->at >= PREFIX_SIZE) {
		struct vt_cursor c = vt_cursor_make(j->file.bytes + j->at,
						    (size_t)(j->file.size - j->at), j->big);
		uint32_t id = vt_cursor_u32(&c), size = vt_cursor_u32(&c);

		out->time = vt_cursor_u64(&c);
		if (size < PREFIX_SIZE || size > j->file.size - j->at)
			break;
		c = vt_cursor_make(j->file.bytes + j->at + PREFIX_SIZE, size - PREFIX_SIZE, j->big);
		j->at += size;
		if (id == CODE_LOAD && parse_load(j, &c, out))
			return true;
	}
	j->at = j->file.size;
	return false;
}
