/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chains of headers made by hand.  A damaged record stands first; what follows it is a chain or
 * not.  Most chains end in junk, so that what is said of them hangs on their own records alone.
 */
#include "formats/perfdata/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/formats/perfdata/pdsession.h"

#define PLAIN (PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_PERIOD)
/* A sample of PLAIN: header and four words. */
#define SAMPLE_SIZE 40
/* Records that make a chain. */
#define CHAIN 8
#define JUNK  200

static void put_sample(struct vt_buf *b, uint64_t time)
{
	const uint64_t words[] = {0x401000, UINT64_C(100) << 32 | 100, time, 1000};

	pdsession_put(b, PD_SAMPLE, 2, words, 4);
}

static void put_samples(struct vt_buf *b, size_t n)
{
	while (n--)
		put_sample(b, 5000);
}

static void put_rounds(struct vt_buf *b, size_t n)
{
	while (n--)
		pdsession_put(b, PD_FINISHED_ROUND, 0, NULL, 0);
}

static struct pd_view view(const struct vt_buf *b)
{
	return (struct pd_view){
		.p = b->data, .have = b->size, .left = b->size, .whole = true, .ends = true};
}

static int fits(struct pdsession *p, const struct vt_buf *b)
{
	struct pd_view v = view(b);

	return vti_pd_fits(&p->s, &v);
}

/* Where the chain behind the damaged record at the start is; 0: there is none. */
static uint64_t search(struct pdsession *p, const struct vt_buf *b)
{
	struct pd_view v = view(b);
	uint64_t at;
	int found = vti_pd_search(&p->s, &v, 1, &at);

	assert_true(found >= 0);
	if (!found)
		assert_int_equal(at, b->size);
	return found ? at : 0;
}

static void finds_chains_of_eight(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t n;

	(void)state;
	pdsession_init(&p, PLAIN);
	for (n = CHAIN - 1; n <= CHAIN; n++) {
		/* Where the contents of a sample without a size lead to. */
		b.size = 0;
		put_sample(&b, 5000);
		vt_put_le16(b.data + 6, 0);
		put_samples(&b, n);
		pdsession_junk(&b, JUNK);
		assert_int_equal(search(&p, &b), n < CHAIN ? 0 : SAMPLE_SIZE);
		/* Behind junk. */
		b.size = 0;
		pdsession_junk(&b, 13);
		put_samples(&b, n);
		pdsession_junk(&b, JUNK);
		assert_int_equal(search(&p, &b), n < CHAIN ? 0 : 13);
	}
	/* At the end one is enough. */
	b.size = 0;
	pdsession_junk(&b, 13);
	put_samples(&b, 1);
	assert_int_equal(search(&p, &b), 13);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* Whether a record can be one of a chain: the fourth of eight, before junk. */
static bool is_link(struct pdsession *p, const struct vt_buf *record)
{
	struct vt_buf b = VT_BUF_INIT;
	uint64_t at;

	pdsession_junk(&b, 13);
	put_samples(&b, 3);
	vt_buf_put(&b, record->data, record->size);
	put_samples(&b, CHAIN - 4);
	pdsession_junk(&b, JUNK);
	at = search(p, &b);
	assert_true(at == 0 || at == 13);
	vt_buf_free(&b);
	return at == 13;
}

static void checks_headers(void **state)
{
	const uint64_t words[] = {0, 0, 0, 0};
	struct vt_buf r = VT_BUF_INIT;
	struct pdsession p;
	unsigned bit;

	(void)state;
	pdsession_init(&p, PLAIN);
	for (bit = 0; bit < 16; bit++) {
		r.size = 0;
		put_sample(&r, 5000);
		vt_put_le16(r.data + 4, (uint16_t)(1u << bit));
		/* linux/perf_event.h gives out bits 0 to 2 and 12 to 15. */
		assert_int_equal(is_link(&p, &r), bit < 3 || bit > 11);
		r.size = 0;
		pdsession_put(&r, PD_THREAD_MAP, (uint16_t)(1u << bit), words, 4);
		assert_true(is_link(&p, &r));
	}
	/* A size that contents ask for, and others; perf's own may have any. */
	r.size = 0;
	put_sample(&r, 5000);
	vt_buf_put_le64(&r, 0);
	vt_put_le16(r.data + 6, SAMPLE_SIZE + 8);
	assert_false(is_link(&p, &r));
	r.size = 0;
	pdsession_put(&r, PD_THREAD_MAP, 0, words, 1);
	r.size--;
	vt_put_le16(r.data + 6, 15);
	assert_true(is_link(&p, &r));
	vt_buf_free(&r);
	pdsession_fini(&p);
}

static void checks_times(void **state)
{
	const uint64_t leap = UINT64_C(1) << 50;
	struct vt_buf r = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PLAIN);
	put_sample(&r, 5000 + leap);
	assert_true(is_link(&p, &r));
	p.s.order.newest = 5000;
	assert_true(is_link(&p, &r));
	r.size = 0;
	put_sample(&r, 5000 + leap + 1);
	assert_false(is_link(&p, &r));

	/* What is before the last one released is late, which is none unless others were. */
	p.s.order.last = p.s.order.release = 4000;
	r.size = 0;
	put_sample(&r, 4000);
	assert_true(is_link(&p, &r));
	r.size = 0;
	put_sample(&r, 3999);
	assert_false(is_link(&p, &r));
	p.s.order.late = 1;
	assert_true(is_link(&p, &r));
	p.s.order.late = 0;
	p.s.order.last = 4001;
	assert_true(is_link(&p, &r));
	p.s.order.last = 4000;
	p.s.ordered = false;
	assert_true(is_link(&p, &r));
	vt_buf_free(&r);
	pdsession_fini(&p);
}

static void checks_ids_and_processors(void **state)
{
	/* identifier, ip, processor; and a LOST with processor and identifier at its end. */
	uint64_t sample[] = {7, 0x401000, 3}, lost[] = {7, 1, 3, 7};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	int wrong;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_CPU);
	for (wrong = 0; wrong < 6; wrong++) {
		size_t i;

		sample[0] = wrong == 1 ? 8 : 7;
		sample[2] = wrong == 2 ? UINT64_C(1) << 32 | 3 : 3;
		lost[3] = wrong == 3 ? 8 : wrong == 4 ? 0 : 7;
		if (wrong < 5)
			assert_int_equal(vti_pd_id_add(&p.s, 7, 0), 0);
		b.size = 0;
		pdsession_junk(&b, 13);
		for (i = 0; i < CHAIN / 2; i++) {
			pdsession_put(&b, PD_SAMPLE, 2, sample, 3);
			pdsession_put(&b, PD_LOST, 0, lost, 4);
		}
		pdsession_junk(&b, JUNK);
		/* perf's own records of what ran before have the id 0. */
		assert_int_equal(search(&p, &b), wrong && wrong < 4 ? 0 : 13);
	}
	vt_buf_free(&b);
	pdsession_fini(&p);
}

static void checks_aux_areas(void **state)
{
	uint64_t words[] = {64, 0, 0, 0, 0};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PLAIN);
	pdsession_put(&b, PD_AUXTRACE, 0, words, 5);
	pdsession_junk(&b, 64);
	assert_true(is_link(&p, &b));
	/* One that goes on behind the end of the file. */
	vt_put_le64(b.data + 8, 1 << 20);
	assert_false(is_link(&p, &b));
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/*
 * A chain must be longer than the bytes of a sample that others have written.  Records of 8 bytes
 * make chains of any length.
 */
static void goes_on_for_longer_than_foreign_bytes(void **state)
{
	static const struct {
		uint64_t field;
		size_t bytes;
	} fields[] = {
		{0, 64},
		/* a count and 127 addresses */
		{PD_SAMPLE_CALLCHAIN, 8 * 128},
		/* a count, an index, and 64 branches of three words and a counter */
		{PD_SAMPLE_BRANCH_STACK, 8 * (2 + 64 * 4)},
		/* an abi and 64 registers */
		{PD_SAMPLE_REGS_USER, 8 * 65},
		{PD_SAMPLE_REGS_INTR, 8 * 65},
		/* two sizes and what was asked for */
		{PD_SAMPLE_STACK_USER, 16 + 2000},
		{PD_SAMPLE_CALLCHAIN | PD_SAMPLE_STACK_USER, 8 * 128 + 16 + 2000},
		{PD_SAMPLE_RAW, 65535},
		{PD_SAMPLE_AUX, 65535},
		{UINT64_C(1) << 25, 65535},
	};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		size_t most = (fields[i].bytes + 7) / 8;

		pdsession_init(&p, PD_SAMPLE_IP | fields[i].field);
		p.s.events[0].attr.stack_user = 2000;
		/* Records after samples: those of perf without a size do not count any more. */
		p.sum.samples = 1;
		for (n = most - 1; n <= most; n++) {
			b.size = 0;
			pdsession_junk(&b, 13);
			put_rounds(&b, n);
			pdsession_junk(&b, JUNK);
			assert_int_equal(search(&p, &b), n < most ? 0 : 13);
		}
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

/* Records of any size could lead from foreign bytes to real records. */
static void takes_records_of_any_size_only_before_samples(void **state)
{
	const uint64_t words[] = {0};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP | PD_SAMPLE_REGS_USER);
	pdsession_junk(&b, 13);
	pdsession_put(&b, PD_THREAD_MAP, 0, words, 1);
	put_rounds(&b, 65);
	pdsession_junk(&b, JUNK);
	assert_int_equal(search(&p, &b), 13);
	p.s.sum->samples = 1;
	assert_int_equal(search(&p, &b), 13 + 16);
	p.s.sum->samples = 0;
	p.s.order.count = 1;
	assert_int_equal(search(&p, &b), 13 + 16);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* Types that no perf has yet: their sizes are right when records go on behind them. */
static void takes_unknown_types(void **state)
{
	static const uint32_t types[] = {85, 999, 60000, 0x80000001};
	const uint64_t words[] = {1, 2};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t i, n, k;

	(void)state;
	pdsession_init(&p, PLAIN);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (n = 1; n <= 3; n++) {
			for (k = CHAIN - 1; k <= CHAIN; k++) {
				size_t j;

				b.size = 0;
				put_sample(&b, 5000);
				for (j = 0; j < n; j++)
					pdsession_put(&b, types[i], 0, words, 2);
				put_samples(&b, k);
				pdsession_junk(&b, JUNK);
				assert_int_equal(fits(&p, &b), k < CHAIN ? PD_DAMAGED : PD_FITS);
			}
			/* They may be the last ones. */
			b.size = SAMPLE_SIZE + n * 24;
			assert_int_equal(fits(&p, &b), PD_FITS);
		}
	}
	/* Two in a row, the second of which cannot be one: size, then bits of misc that none has.
	 */
	b.size = 0;
	pdsession_put(&b, 60000, 0, words, 1);
	pdsession_put(&b, 60000, 0, words, 1);
	put_samples(&b, CHAIN);
	assert_int_equal(fits(&p, &b), PD_FITS);
	vt_put_le16(b.data + 16 + 4, 8);
	assert_int_equal(fits(&p, &b), PD_DAMAGED);
	vt_put_le16(b.data + 16 + 4, 4);
	assert_int_equal(fits(&p, &b), PD_FITS);
	vt_put_le16(b.data + 16 + 6, 7);
	assert_int_equal(fits(&p, &b), PD_DAMAGED);
	vt_put_le16(b.data + 16 + 6, 24);
	assert_int_equal(fits(&p, &b), PD_DAMAGED);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* A record of the kernel ends in a sample id, whatever it is: here process and time. */
static void wants_sample_ids_of_unknown_kernel_records(void **state)
{
	uint64_t words[] = {1, UINT64_C(100) << 32 | 100, 5000};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PLAIN);
	p.s.order.newest = 5000;
	pdsession_put(&b, 40, 0, words, 3);
	put_samples(&b, CHAIN);
	assert_int_equal(fits(&p, &b), PD_FITS);
	vt_put_le64(b.data + 24, UINT64_C(1) << 60);
	assert_int_equal(fits(&p, &b), PD_DAMAGED);
	/* From 64 on records are perf's own. */
	vt_put_le32(b.data, 64 + 21);
	assert_int_equal(fits(&p, &b), PD_FITS);
	/* One word has no room for a sample id of two. */
	b.size = 0;
	pdsession_put(&b, 40, 0, words, 1);
	put_samples(&b, CHAIN);
	assert_int_equal(fits(&p, &b), PD_DAMAGED);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* Where records begin inside of one that does not tell its size, its size is wrong. */
static void takes_no_record_that_swallows_others(void **state)
{
	const uint64_t words[] = {31, 5, 6};
	static const uint32_t types[] = {PD_TIME_CONV, 60000};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t i;

	(void)state;
	pdsession_init(&p, PLAIN);
	for (i = 0; i < 2; i++) {
		b.size = 0;
		pdsession_put(&b, types[i], 0, words, 3);
		put_samples(&b, 2 * CHAIN);
		assert_int_equal(fits(&p, &b), PD_FITS);
		vt_put_le16(b.data + 6, 32 + 2 * SAMPLE_SIZE);
		assert_int_equal(fits(&p, &b), PD_DAMAGED);
		assert_int_equal(search(&p, &b), 32);
	}
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/*
 * The contents of a record that others follow may look like a record, that leads to its end:
 * numbers of all values are at all addresses but the multiples of 8, where each begins in a word of
 * its own.
 */
static void believes_records_that_others_follow(void **state)
{
	static const uint32_t types[] = {PD_ID_INDEX, PD_TIME_CONV, 60000};
	const uint64_t words[10] = {2, 5, 0, 0, 700, 6, 0, 1, 700};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t i, at;

	(void)state;
	pdsession_init(&p, PLAIN);
	for (i = 0; i < 3; i++) {
		for (at = 17; at < 72; at++) {
			if (at % 8 == 0)
				continue;
			b.size = 0;
			pdsession_put(&b, types[i], 0, words, 10);
			vt_put_le32(b.data + at, PD_FINISHED_INIT);
			vt_put_le16(b.data + at + 4, 0);
			vt_put_le16(b.data + at + 6, (uint16_t)(88 - at));
			put_samples(&b, 2 * CHAIN);
			if (fits(&p, &b) != PD_FITS)
				fail_msg("type %u, a record at %zu", types[i], at);
			/* One that has a kind of which any size is right. */
			vt_put_le32(b.data + at, PD_TIME_CONV);
			if (fits(&p, &b) != PD_FITS)
				fail_msg("type %u, a record of any size at %zu", types[i], at);
		}
	}
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* Of a record that tells its size, that is right, and what is behind it does not matter. */
static void believes_contents(void **state)
{
	const uint64_t comm[] = {UINT64_C(100) << 32 | 100, 0x0067616c66, UINT64_C(100) << 32 | 100,
				 5000, 0};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PLAIN);
	pdsession_put(&b, PD_COMM, 0, comm, 4);
	assert_int_equal(fits(&p, &b), PD_FITS);
	put_samples(&b, 1);
	pdsession_junk(&b, JUNK);
	assert_int_equal(fits(&p, &b), PD_FITS);
	/* Eight bytes too many: a chain goes on where the contents end, or where the size says. */
	b.size = 0;
	pdsession_put(&b, PD_COMM, 0, comm, 4);
	put_samples(&b, CHAIN);
	pdsession_junk(&b, JUNK);
	vt_put_le16(b.data + 6, 48);
	assert_int_equal(fits(&p, &b), PD_DAMAGED);
	assert_int_equal(search(&p, &b), 40);
	b.size = 0;
	pdsession_put(&b, PD_COMM, 0, comm, 5);
	put_samples(&b, CHAIN);
	pdsession_junk(&b, JUNK);
	assert_int_equal(fits(&p, &b), PD_FITS);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* More bytes are wanted where those that are there end inside of a chain. */
static void waits_for_more(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	struct pd_view v;
	uint64_t at;

	(void)state;
	pdsession_init(&p, PLAIN);
	pdsession_put(&b, 60000, 0, NULL, 0);
	put_samples(&b, CHAIN);
	v = view(&b);
	v.whole = v.ends = false;
	v.left = UINT64_MAX;
	assert_int_equal(vti_pd_fits(&p.s, &v), PD_FITS);
	v.have--;
	assert_int_equal(vti_pd_fits(&p.s, &v), PD_UNDECIDED);
	v.have = 8;
	assert_int_equal(vti_pd_fits(&p.s, &v), PD_UNDECIDED);
	v.whole = v.ends = true;
	v.left = v.have = 8;
	assert_int_equal(vti_pd_fits(&p.s, &v), PD_FITS);

	/* A search says where it has to go on: at the chain that is not seen whole. */
	b.size = 0;
	pdsession_junk(&b, 13);
	put_samples(&b, CHAIN - 1);
	v = view(&b);
	v.whole = v.ends = false;
	v.left = UINT64_MAX;
	assert_int_equal(vti_pd_search(&p.s, &v, 1, &at), 0);
	assert_int_equal(at, 13);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* An attribute's size is that of the structure and of the ids between it and the next record. */
static void finds_ends_of_attributes(void **state)
{
	uint64_t words[17 + 3] = {UINT64_C(136) << 32 | 1, 0, 1000, PLAIN};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t size;

	(void)state;
	pdsession_init(&p, PLAIN);
	words[17] = 11;
	words[18] = 12;
	words[19] = UINT32_MAX;
	pdsession_put(&b, PD_HEADER_ATTR, 0, words, 20);
	put_samples(&b, CHAIN);
	pdsession_junk(&b, JUNK);
	assert_int_equal(fits(&p, &b), PD_FITS);
	for (size = 8; size < 8 + 8 * 30; size += 8) {
		if (size == 168)
			continue;
		vt_put_le16(b.data + 6, (uint16_t)size);
		assert_int_equal(fits(&p, &b), PD_DAMAGED);
		assert_int_equal(search(&p, &b), 168);
	}
	/* Ids are small numbers from 1 on; other words are what is left of another record. */
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 144, 168), 168);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 160, 168), 168);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 176, 168), 168);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 148, 168), 168);
	vt_put_le64(b.data + 160, UINT64_C(1) << 32);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 144, 168), 144);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 152, 168), 152);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 144, 160), 160);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 136, 168), 168);
	vt_put_le64(b.data + 160, 0);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 144, 168), 144);
	assert_int_equal(vti_pd_attr_end(&p.s, b.data, 144, 71), 0);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* AUXTRACE: its size, offset, reference, index, thread, processor and four bytes of nothing. */
static void finds_ends_of_aux_areas(void **state)
{
	const uint64_t words[] = {64, 0, 1, UINT64_C(100) << 32, 0};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PLAIN);
	pdsession_put(&b, PD_AUXTRACE, 0, words, 5);
	vt_put_le16(b.data + 6, 0);
	pdsession_junk(&b, 64);
	assert_int_equal(search(&p, &b), 48 + 64);
	vt_put_le64(b.data + 8, 72);
	assert_int_equal(search(&p, &b), 0);
	vt_put_le64(b.data + 8, 60);
	assert_int_equal(search(&p, &b), 0);
	vt_put_le64(b.data + 8, 64);
	vt_put_le32(b.data + 44, 1);
	assert_int_equal(search(&p, &b), 0);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* A record of two blocks of 8 and 13 bytes of content; a header and 3 + 8 + 3 + 13: 35 bytes. */
static void finds_ends_of_compressed_records(void **state)
{
	struct vt_buf b = VT_BUF_INIT, again = VT_BUF_INIT;
	static const unsigned sizes[] = {16, 24, 19, 36, 43, 35 + SAMPLE_SIZE};
	struct pdsession p;
	size_t i;

	(void)state;
	pdsession_init(&p, PLAIN);
	pdsession_put(&b, PD_COMPRESSED, 0, NULL, 0);
	vt_buf_put(&b, "\100\0\0", 3);
	vt_buf_put(&b, "eight by", 8);
	vt_buf_put(&b, "\150\0\0", 3);
	vt_buf_put(&b, "thirteen byte", 13);
	vt_put_le16(b.data + 6, 35);
	assert_int_equal(b.size, 35);
	put_samples(&b, CHAIN + 1);
	pdsession_junk(&b, JUNK);
	assert_int_equal(fits(&p, &b), PD_FITS);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		vt_put_le16(b.data + 6, (uint16_t)sizes[i]);
		assert_int_equal(fits(&p, &b), PD_DAMAGED);
		assert_int_equal(search(&p, &b), 35);
	}
	/* Where nothing fits behind it, its blocks vouch for it; without them nothing does. */
	vt_buf_put(&again, b.data, 35);
	pdsession_junk(&again, 16);
	put_samples(&again, CHAIN);
	vt_put_le16(again.data + 6, 35);
	assert_int_equal(fits(&p, &again), PD_FITS);
	vt_put_le16(again.data + 6, 34);
	assert_int_equal(fits(&p, &again), PD_DAMAGED);
	vt_buf_free(&again);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/*
 * The second block begins with what looks like a record of type 'A' << 24 | 0x68 and a size of 16,
 * which ends where the whole record does; then with one that the end of the input cuts.
 */
static void takes_no_block_for_a_record(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	struct pd_view v;

	(void)state;
	pdsession_init(&p, PLAIN);
	pdsession_put(&b, PD_COMPRESSED, 0, NULL, 0);
	vt_buf_put(&b, "\100\0\0", 3);
	vt_buf_put(&b, "eight by", 8);
	vt_buf_put(&b, "\150\0\0", 3);
	vt_buf_put(&b, "A\2\0\20\0of eight", 13);
	vt_put_le16(b.data + 6, 35);
	put_samples(&b, CHAIN + 1);
	assert_int_equal(fits(&p, &b), PD_FITS);
	/* The samples are damaged: only the blocks vouch for the record. */
	memset(b.data + 35, 0xff, b.size - 35);
	vt_put_le16(b.data + 25, 0x6fd0);
	v = view(&b);
	v.left = UINT64_MAX;
	assert_int_equal(vti_pd_fits(&p.s, &v), PD_FITS);
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* Compressed records hold none that are compressed again, nor bytes that follow records. */
static void knows_what_is_inside_of_compressed_records(void **state)
{
	static const uint32_t types[] = {PD_COMPRESSED, PD_AUXTRACE, PD_TRACING_DATA};
	const uint64_t words[] = {0, 0, 0, 0, 0};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	struct pd_view v;
	uint64_t at;
	size_t i;

	(void)state;
	pdsession_init(&p, PLAIN);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		b.size = 0;
		pdsession_junk(&b, 13);
		put_samples(&b, 3);
		pdsession_put(&b, types[i], 0, words, types[i] == PD_AUXTRACE ? 5 : 1);
		if (types[i] == PD_TRACING_DATA) {
			b.size -= 4;
			vt_put_le16(b.data + b.size - 12 + 6, 12);
		}
		put_samples(&b, 4);
		pdsession_junk(&b, JUNK);
		assert_int_equal(search(&p, &b), 13);
		v = view(&b);
		v.inner = true;
		assert_int_equal(vti_pd_search(&p.s, &v, 1, &at), 0);
	}
	vt_buf_free(&b);
	pdsession_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_chains_of_eight),
		cmocka_unit_test(checks_headers),
		cmocka_unit_test(checks_times),
		cmocka_unit_test(checks_ids_and_processors),
		cmocka_unit_test(checks_aux_areas),
		cmocka_unit_test(goes_on_for_longer_than_foreign_bytes),
		cmocka_unit_test(takes_records_of_any_size_only_before_samples),
		cmocka_unit_test(takes_unknown_types),
		cmocka_unit_test(wants_sample_ids_of_unknown_kernel_records),
		cmocka_unit_test(takes_no_record_that_swallows_others),
		cmocka_unit_test(believes_records_that_others_follow),
		cmocka_unit_test(believes_contents),
		cmocka_unit_test(waits_for_more),
		cmocka_unit_test(finds_ends_of_attributes),
		cmocka_unit_test(finds_ends_of_aux_areas),
		cmocka_unit_test(finds_ends_of_compressed_records),
		cmocka_unit_test(takes_no_block_for_a_record),
		cmocka_unit_test(knows_what_is_inside_of_compressed_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
