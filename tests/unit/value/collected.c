/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/value/collected.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/value/lists.h"

static struct vt_error err;

struct vt_writer *collected_begin(int fd)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &o, &err);

	assert_non_null(w);
	return w;
}

void collected_image(struct vt_writer *w, uint64_t id, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, path);
}

void collected_map(struct vt_writer *w, uint64_t image, uint64_t start, uint64_t length)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = length;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
}

void collected_block(struct vt_writer *w, const struct collected_block *b, uint64_t id)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	unsigned i;

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = BASE + 0x1000 * id;
	row[VT_BLOCK_INSNS] = b->ninsns;
	row[VT_BLOCK_END] = b->end;
	for (i = 0; i < b->ninsns; i++)
		row[VT_BLOCK_SIZE] += b->lengths[i];
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, b->lengths, b->ninsns);
	vt_writer_bytes(w, VT_BLOCK_CODE, b->code, b->has_code);
	vt_writer_words(w, VT_BLOCK_SLOTS, b->slots, b->nslots);
}

void collected_exec(struct vt_writer *w, const struct collected_run *r, const uint16_t *ids,
		    size_t n, const uint8_t *data, size_t size)
{
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	uint8_t packed[2 * 64];
	size_t i;

	assert_true(n <= 64);
	for (i = 0; i < n; i++)
		vt_put_le16(packed + 2 * i, (uint16_t)(ids[i] - 1));
	row[VT_EXEC_PID] = (uint64_t)r->pid;
	row[VT_EXEC_TID] = (uint64_t)r->tid;
	row[VT_EXEC_FIRST] = r->first;
	row[VT_EXEC_CALLER] = r->caller;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = r->insns;
	row[VT_EXEC_SKIP] = r->skip;
	row[VT_EXEC_BASE] = 1;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(w, VT_EXEC_IDS, packed, 2 * n);
	vt_writer_bytes(w, VT_EXEC_DATA, data, size);
}

void collected_thread(struct vt_writer *w, enum vt_thread_op op)
{
	uint64_t *row = vt_writer_row(w, VT_THREAD);

	row[VT_THREAD_PID] = row[VT_THREAD_TID] = PID;
	row[VT_THREAD_OP] = op;
}

void collected_open(struct collected_profile *p, uint32_t what, bool by_caller)
{
	const struct vt_hotlist_options lists = {.algo = VT_ALGO_EXACT};
	const struct vt_collect_options options = {.what = what, .by_caller = by_caller};

	p->sites = vt_sites_new(&lists, &err);
	p->collect = vt_collect_new(p->sites, &options);
	assert_non_null(p->collect);
}

void collected_close(struct collected_profile *p)
{
	vt_collect_free(p->collect);
	vt_sites_free(p->sites);
}

void collected_take(struct collected_profile *p, int fd, struct vt_writer *w)
{
	struct vt_context *context = vt_context_new(NULL);
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_reader *r;
	int code;

	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	vt_collect_begin(p->collect, context);
	while ((code = vt_reader_next_run(r, &block, &first, &count, &err)) > 0)
		assert_int_equal(vt_context_feed(context, block, first, count, &err), 0);
	assert_int_equal(code, 0);
	assert_int_equal(vt_collect_end(p->collect, true, &err), 0);
	p->stats = *vt_collect_stats(p->collect);
	vt_context_free(context);
	vt_reader_close(r);
	close(fd);
}

struct vt_hotlist *collected_find(const struct collected_profile *p, uint64_t offset, uint32_t what,
				  uint32_t reg, uint32_t lane, uint64_t caller)
{
	struct vt_hotlist *found = NULL;
	const struct vt_site *s;
	uint32_t size;
	size_t i;

	for (i = 0; i < vt_sites_nlists(p->sites); i++) {
		struct vt_hotlist *l = vt_sites_list_at(p->sites, i, &s, &size);

		if (!l->total || s->offset != offset || s->what != what || s->reg != reg ||
		    s->lane != lane || s->caller != caller)
			continue;
		assert_null(found);
		found = l;
	}
	return found;
}

size_t collected_count(const struct collected_profile *p, uint32_t what)
{
	const struct vt_site *s;
	size_t i, n = 0;
	uint32_t size;

	for (i = 0; i < vt_sites_nlists(p->sites); i++)
		n += vt_sites_list_at(p->sites, i, &s, &size)->total && s->what == what;
	return n;
}

void collected_check(const struct collected_profile *p, struct vt_hotlist *l,
		     const uint64_t *values, size_t n)
{
	struct vt_hot f = {.nvalues = 0};
	size_t i, k;

	assert_non_null(l);
	read_list(p->sites ? vt_sites_lists(p->sites) : NULL, l, &f);
	assert_int_equal(f.total, n);
	for (i = 0; i < n; i++) {
		unsigned times = 0;

		for (k = 0; k < n; k++)
			times += values[k] == values[i];
		if (found_estimate(&f, values[i]) != times)
			fail_msg("%#" PRIx64 " is there %g times", values[i],
				 found_estimate(&f, values[i]));
	}
	assert_int_equal(f.first, values[0]);
	assert_int_equal(f.last, values[n - 1]);
	vt_hot_fini(&f);
}
