/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "interpret/internal.h"

void vti_lines_fini(struct vti_lines *l)
{
	free(l->line);
}

int vti_lines_take(struct vti_lines *l, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_words addr = vt_record_words(rec, VT_SAMPLE_LINE_ADDR);
	struct vt_words read = vt_record_words(rec, VT_SAMPLE_LINE_READ);
	struct vt_bytes bytes = vt_record_bytes(rec, VT_SAMPLE_LINES);
	size_t contradictory;

	l->count = 0;
	if (!addr.count && !bytes.size)
		return 0;
	if (read.count && read.count != addr.count) {
		l->totals->bad_lines++;
		return 0;
	}
	if (!vt_array_grow(&l->line, &l->cap, addr.count, sizeof(*l->line)))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for lines of a sample");
	l->count = vt_lines_sort(l->line, addr.data, read.count ? read.data : NULL, bytes.data,
				 bytes.size, addr.count, &contradictory);
	if (l->count == SIZE_MAX)
		l->count = 0;
	l->pid = vt_record_i64(rec, VT_SAMPLE_PID);
	l->totals->with_lines += l->count > 0;
	l->totals->bad_lines += !l->count || contradictory;
	return 0;
}

/* The line of an address, or NULL. */
static const struct vt_line *find_line(const struct vti_lines *l, int64_t pid, uint64_t addr,
				       size_t *at)
{
	*at = l->count;
	if (!l->count || pid != l->pid)
		return NULL;
	*at = vt_lines_find(l->line, l->count, addr);
	return *at < l->count && l->line[*at].addr <= addr ? &l->line[*at] : NULL;
}

uint64_t vti_lines_fill(const struct vti_lines *l, int64_t pid, uint64_t addr,
			uint8_t bytes[VT_KNOWN_LINE])
{
	size_t at;
	const struct vt_line *line = find_line(l, pid, addr, &at);

	return line ? vt_line_fill(line, bytes) : 0;
}

size_t vti_lines_copy(const struct vti_lines *l, int64_t pid, uint64_t addr, uint8_t *bytes,
		      size_t size, size_t *gap)
{
	size_t at, n;
	const struct vt_line *line = find_line(l, pid, addr, &at);
	unsigned offset = (unsigned)(addr % VT_KNOWN_LINE);
	uint64_t next;

	*gap = 0;
	n = line ? vt_line_copy(line, offset, bytes, size) : 0;
	if (n)
		return n;
	*gap = size;
	if (line && line->read >> offset)
		next = addr + (unsigned)__builtin_ctzll(line->read >> offset);
	else if (line && ++at == l->count)
		return 0;
	else if (at < l->count)
		next = l->line[at].addr + (unsigned)__builtin_ctzll(l->line[at].read);
	else
		return 0;
	if (next - addr < size)
		*gap = (size_t)(next - addr);
	return 0;
}
