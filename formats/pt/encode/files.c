/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/output.h"
#include "formats/pt/encode/internal.h"
#include "stream/exec.h"

/* ---- the pages of the code ---- */

#define PAGE 4096

struct page {
	uint64_t addr;
	uint8_t known[PAGE / 8];
	uint8_t bytes[PAGE];
};

/* Sets a byte of code; *at is the page of the previous one. */
static bool put_byte(struct vt_pt_encode *e, struct vt_hash *pages, struct page **at, uint64_t addr,
		     uint8_t byte)
{
	uint64_t page = addr / PAGE * PAGE;
	unsigned i = addr % PAGE;
	struct page *p = *at;

	if (!p || p->addr != page)
		p = *at = vt_hash_add(pages, &page, NULL);
	if (!p)
		return false;
	if ((p->known[i / 8] >> i % 8 & 1) && p->bytes[i] != byte)
		e->sum.rewritten++;
	p->known[i / 8] |= (uint8_t)(1u << i % 8);
	p->bytes[i] = byte;
	return true;
}

static bool put_code(struct vt_pt_encode *e, struct vt_hash *pages)
{
	struct page *at = NULL;
	size_t id;
	uint32_t i;

	for (id = 0; id < e->nblocks; id++) {
		const struct vt_bblock *b = vt_bblocks_get(e->dict, id);

		if (!b || !b->code || !e->blocks[id].used)
			continue;
		for (i = 0; i < b->size; i++)
			if (!put_byte(e, pages, &at, b->addr + i, b->code[i]))
				return false;
	}
	return true;
}

static int compare_page_addresses(const void *a, const void *b)
{
	const struct page *x = *(const struct page *const *)a;
	const struct page *y = *(const struct page *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool put_pages(const struct vt_hash *pages, struct vt_output *dump, struct vt_output *addr)
{
	const struct page **sorted = calloc(pages->count + 1, sizeof(void *));
	uint8_t word[8];
	size_t i;

	if (!sorted)
		return false;
	for (i = 0; i < pages->count; i++)
		sorted[i] = vt_hash_at(pages, i);
	qsort(sorted, pages->count, sizeof(const struct page *), compare_page_addresses);
	for (i = 0; i < pages->count; i++) {
		vt_put_le64(word, sorted[i]->addr);
		vt_output_put(addr, word, sizeof(word));
		vt_output_put(dump, sorted[i]->bytes, PAGE);
	}
	free(sorted);
	return true;
}

static int write_pages(struct vt_pt_encode *e, struct vt_output *dump, struct vt_output *addr,
		       struct vt_error *err)
{
	struct vt_hash pages;
	bool done;

	vt_hash_init(&pages, sizeof(struct page), sizeof(uint64_t));
	done = put_code(e, &pages) && put_pages(&pages, dump, addr);
	vt_hash_fini(&pages);
	return done ? 0 : vt_error_nomem(err);
}

int vt_pt_encode_pages(struct vt_pt_encode *e, const char *dump, const char *addr,
		       struct vt_error *err)
{
	const char *const names[2] = {dump, addr};
	struct vt_output out[2];
	int opened, i, code = 0;

	for (opened = 0; opened < 2; opened++) {
		code = vt_output_open(&out[opened], names[opened], err);
		if (code < 0)
			break;
	}
	if (code == 0)
		code = write_pages(e, &out[0], &out[1], err);
	for (i = 0; i < opened; i++) {
		struct vt_error last = VT_ERROR_INIT;

		if (vt_output_close(&out[i], &last) < 0 && code == 0) {
			*err = last;
			code = -(int)last.code;
		}
	}
	return code;
}

/* ---- the output format: a file for each thread ---- */

struct vt_output_session {
	struct vt_output_options opt;
	struct vt_pt_encode *e; /* the `user` of a thread is its struct vt_output */
};

static int open_thread_file(struct vt_output_session *s, struct vt_pt_encode_thread *t,
			    struct vt_error *err)
{
	const char *path = s->opt.path;
	bool to_stdout = !path || strcmp(path, "-") == 0;
	struct vt_output *out = t->user = calloc(1, sizeof(*out));
	struct vt_buf name = VT_BUF_INIT;
	int code;

	if (!out)
		return vt_error_nomem(err);
	out->fd = -1;
	if (to_stdout && t->index > 0) {
		s->e->sum.left_out++;
		return 0;
	}
	vt_buf_printf(&name, "%s", to_stdout ? "-" : path);
	if (t->index > 0)
		vt_buf_printf(&name, ".%" PRId64, t->tid);
	code = vt_output_open(out, vt_buf_str(&name), err);
	vt_buf_free(&name);
	if (code < 0)
		out->fd = -1;
	if (code == 0 && out->tty)
		return vt_error_set(err, VT_E_USAGE,
				    "a trace is not written to a terminal: name a file with -o");
	return code;
}

static int write_thread_bytes(void *arg, struct vt_pt_encode_thread *t, const uint8_t *bytes,
			      size_t size, struct vt_error *err)
{
	struct vt_output *out;
	int code;

	if (!t->user) {
		code = open_thread_file(arg, t, err);
		if (code < 0)
			return code;
	}
	out = t->user;
	if (out->fd < 0)
		return 0;
	vt_output_put(out, bytes, size);
	if (out->err.code == VT_OK)
		return 0;
	*err = out->err;
	return -(int)err->code;
}

static struct vt_output_session *open_pt_output(const struct vt_output_options *opt,
						struct vt_error *err)
{
	struct vt_output_session *s = calloc(1, sizeof(*s));

	if (s) {
		s->opt = *opt;
		s->e = vt_pt_encode_new(opt->pt, write_thread_bytes, s);
		if (s->e)
			return s;
	}
	free(s);
	vt_error_nomem(err);
	return NULL;
}

static int take_pt_record(struct vt_output_session *s, const struct vt_record *rec,
			  struct vt_error *err)
{
	return vt_pt_encode_record(s->e, rec, err);
}

static int finish_pt_output(struct vt_output_session *s, struct vt_error *err)
{
	int code = vt_pt_encode_finish(s->e, err);

	if (code < 0)
		return code;
	if (!s->e->sum.blocks)
		return vt_error_set(err, VT_E_ABSENT, VT_NO_EXECUTED_CODE);
	return s->opt.dump ? vt_pt_encode_pages(s->e, s->opt.dump, s->opt.addr, err) : 0;
}

void vt_pt_encode_report(const struct vt_pt_encode *e, vt_output_report *fn, void *arg)
{
	const struct vt_pt_encode_totals *s = &e->sum;

	if (s->bad)
		fn(arg, true, "%" PRIu64 " bad records, left out; the first: %s", s->bad, e->bad);
	if (s->left_out)
		fn(arg, true,
		   "%" PRIu64 " more threads are left out: -o FILE writes each to its own file, "
		   "--tid chooses one",
		   s->left_out);
	if (s->rewritten)
		fn(arg, false,
		   "%" PRIu64 " bytes of code were changed while they were executed: the pages "
		   "have the last ones",
		   s->rewritten);
	if (s->breaks)
		fn(arg, false,
		   "%" PRIu64 " places where the stream does not say how execution went on",
		   s->breaks);
	if (s->overflows || s->damaged)
		fn(arg, false, "%" PRIu64 " overflows made, %" PRIu64 " bytes damaged",
		   s->overflows, s->damaged);
}

static void report_pt_output(const struct vt_output_session *s, vt_output_report *fn, void *arg)
{
	vt_pt_encode_report(s->e, fn, arg);
}

static int close_pt_output(struct vt_output_session *s, struct vt_error *err)
{
	int code = 0;
	size_t i;

	for (i = 0; i < s->e->nthreads; i++) {
		struct vt_output *out = s->e->threads[i]->pub.user;
		struct vt_error last = VT_ERROR_INIT;

		if (out && out->fd >= 0 && vt_output_close(out, &last) < 0 && code == 0) {
			*err = last;
			code = -(int)last.code;
		}
		free(out);
	}
	vt_pt_encode_free(s->e);
	free(s);
	return code;
}

const struct vt_output_format vt_pt_output = {
	.name = "pt",
	.description = "write raw packets of Intel PT, a file for each thread",
	.open = open_pt_output,
	.record = take_pt_record,
	.finish = finish_pt_output,
	.report = report_pt_output,
	.close = close_pt_output,
};
