/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of blocks that are executed in part, of guarded accesses, and those that come alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/value/collected.h"

static struct vt_error err;

/* ---- parts of blocks ---- */

/* insn 0: 2 bytes and their address; insn 1: 12 bytes; insn 2: a byte. */
static const struct collected_block parted = {
	'-',
	3,
	{3, 2, 4},
	VT_END_FALL,
	.nslots = 4,
	.slots = {SLOT(0, VT_WHAT_LOAD, 2, 0), SLOT(0, VT_WHAT_LOAD_ADDRESS, 8, 0),
		  SLOT(1, VT_WHAT_STORE, 12, 0), SLOT(2, VT_WHAT_LOAD, 1, 0)},
};

/* The values of execution number k, 23 bytes: 0x8000+k, its address, two lanes, 0x80+k. */
static void part_values(uint8_t *p, unsigned k)
{
	vt_put_le16(p, (uint16_t)(0x8000 + k));
	vt_put_le64(p + 2, 0xf000000000000000 + k);
	vt_put_le64(p + 10, 0xe000000000000000 + k);
	vt_put_le32(p + 18, 0xd0000000 + k);
	p[22] = (uint8_t)(0x80 + k);
}

static void check_parts(const struct collected_profile *p)
{
	static const uint64_t samples[] = {5, 7, 5}, places[] = {0x1000, 0x1003, 0x1005};
	int fd = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	struct vt_record rec = {0};
	struct vt_reader *r;
	size_t n = 0;

	assert_int_equal(vt_sites_write(p->sites, w, &err), 0);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (rec.kind == VT_EVENT)
			assert_int_equal(vt_record_u64(&rec, VT_EVENT_PERIOD), 1);
		if (rec.kind != VT_COUNT)
			continue;
		if (n < 3) {
			assert_int_equal(vt_record_u64(&rec, VT_COUNT_OFFSET), places[n]);
			assert_int_equal(vt_record_u64(&rec, VT_COUNT_SAMPLES), samples[n]);
			assert_int_equal(vt_record_u64(&rec, VT_COUNT_PERIOD), samples[n]);
		}
		n++;
	}
	assert_int_equal(n, 3);
	vt_reader_close(r);
	close(fd);
}

static void take_parts(struct collected_profile *p, bool by_caller)
{
	static const uint16_t ids[] = {1, 1, 1};
	struct collected_run r = {.pid = PID, .tid = PID};
	int fd = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	uint8_t v[7][23];
	unsigned k;

	for (k = 0; k < 7; k++)
		part_values(v[k], k);
	collected_open(p, ALL, by_caller);
	collected_image(w, 3, "/bin/program");
	collected_map(w, 3, BASE, 0x100000);
	collected_block(w, &parted, 1);
	r.skip = 1;
	r.insns = 2;
	collected_exec(w, &r, ids, 1, v[0] + 10, 13);
	r.skip = 0;
	collected_exec(w, &r, ids, 1, v[1], 22);
	r.skip = 1;
	r.insns = 1;
	collected_exec(w, &r, ids, 1, v[2] + 10, 12);
	r.skip = 0;
	r.insns = 3;
	collected_exec(w, &r, ids, 1, v[3], 23);
	r.insns = 9;
	collected_exec(w, &r, ids, 3, v[4], 69);
	collected_take(p, fd, w);
}

static void test_parts(void **state)
{
	const uint64_t s = 0xe000000000000000, a = 0xf000000000000000;
	struct collected_profile p;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		take_parts(&p, i > 0);
		COLLECTED(&p, collected_find(&p, 0x1000, VT_WHAT_LOAD, 0, 0, 0), 0x8001, 0x8003,
			  0x8004, 0x8005, 0x8006);
		COLLECTED(&p, collected_find(&p, 0x1000, VT_WHAT_LOAD_ADDRESS, 0, 0, 0), a + 1,
			  a + 3, a + 4, a + 5, a + 6);
		COLLECTED(&p, collected_find(&p, 0x1003, VT_WHAT_STORE, 0, 0, 0), s, s + 1, s + 2,
			  s + 3, s + 4, s + 5, s + 6);
		COLLECTED(&p, collected_find(&p, 0x1003, VT_WHAT_STORE, 0, 1, 0), 0xd0000000,
			  0xd0000001, 0xd0000002, 0xd0000003, 0xd0000004, 0xd0000005, 0xd0000006);
		COLLECTED(&p, collected_find(&p, 0x1005, VT_WHAT_LOAD, 0, 0, 0), 0x80, 0x83, 0x84,
			  0x85, 0x86);
		assert_int_equal(p.stats.insns, 17);
		assert_int_equal(p.stats.unmapped, 0);
		check_parts(&p);
		collected_close(&p);
	}
}

/* A long run, in which blocks are looked at before they come: of some nothing is wanted. */
static void test_long_run(void **state)
{
	enum { RUN = 60 };
	static const struct collected_block empty = {
		.name = '-', .ninsns = 2, .lengths = {3, 2}, .end = VT_END_FALL};
	static uint16_t ids[RUN];
	static uint8_t data[RUN * 23];
	struct collected_run r = {.pid = PID, .tid = PID};
	struct collected_profile p;
	int fd = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	size_t i, size = 0;
	uint64_t executions = 0;

	(void)state;
	for (i = 0; i < RUN; i++) {
		ids[i] = i % 3 ? 1 : 2;
		r.insns += i % 3 ? 3 : 2;
		if (i % 3 == 0)
			continue;
		part_values(data + size, 7);
		size += 23;
		executions++;
	}
	collected_open(&p, ALL, false);
	collected_map(w, 3, BASE, 0x100000);
	collected_block(w, &parted, 1);
	collected_block(w, &empty, 2);
	collected_exec(w, &r, ids, RUN, data, size);
	collected_take(&p, fd, w);
	assert_int_equal(p.stats.damaged, 0);
	assert_int_equal(p.stats.insns, r.insns);
	assert_int_equal(collected_find(&p, 0x1000, VT_WHAT_LOAD, 0, 0, 0)->total, executions);
	assert_int_equal(collected_find(&p, 0x1003, VT_WHAT_STORE, 0, 1, 0)->total, executions);
	collected_close(&p);
}

/* ---- guards ---- */

/* insn 0: a guard, an address, 16 bytes, 2 bytes, an operand; insn 1: 1 byte, not guarded. */
static const struct collected_block guarded = {
	'-',
	2,
	{3, 2},
	VT_END_FALL,
	.nslots = 6,
	.slots = {SLOT(0, VT_WHAT_GUARD, 1, 0), SLOT(0, VT_WHAT_LOAD_ADDRESS, 8, 0),
		  SLOT(0, VT_WHAT_LOAD, 16, 0), SLOT(0, VT_WHAT_STORE, 2, 1),
		  SLOT(0, VT_WHAT_OPERAND, 1, 2), SLOT(1, VT_WHAT_LOAD, 1, 0)},
};

/* insn 0: a guard alone, and an operand; insn 1: a guard, an address to write to, 8 bytes. */
static const struct collected_block lone = {
	'-',
	2,
	{3, 2},
	VT_END_FALL,
	.nslots = 5,
	.slots = {SLOT(0, VT_WHAT_GUARD, 1, 0), SLOT(0, VT_WHAT_OPERAND, 1, 0),
		  SLOT(1, VT_WHAT_LOAD, 1, 0), SLOT(1, VT_WHAT_GUARD, 1, 0),
		  SLOT(1, VT_WHAT_STORE_ADDRESS, 8, 0)},
};

static void guard_values(uint8_t *p, unsigned k, bool open)
{
	memset(p, 0, 29);
	p[0] = open;
	p[1] = (uint8_t)(10 + k);
	p[9] = (uint8_t)(20 + k);
	p[17] = (uint8_t)(30 + k);
	p[25] = (uint8_t)(40 + k);
	p[27] = (uint8_t)(50 + k);
	p[28] = (uint8_t)(60 + k);
}

static void test_guards(void **state)
{
	static const uint16_t ids[] = {1, 1, 1, 2, 2};
	struct collected_run r = {.pid = PID, .tid = PID, .insns = 10};
	const uint32_t addresses = 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE_ADDRESS;
	struct collected_profile p;
	uint8_t data[3 * 29 + 2 * 12] = {0};
	int i;

	(void)state;
	guard_values(data, 0, true);
	guard_values(data + 29, 1, false);
	guard_values(data + 58, 2, true);
	/* The load of `lone` belongs to no guard; the address to the second one. */
	memcpy(data + 87, (const uint8_t[]){0, 70, 71, 0, 72}, 5);
	memcpy(data + 99, (const uint8_t[]){0, 73, 74, 1, 75}, 5);
	for (i = 0; i < 2; i++) {
		int fd = scratch_file();
		struct vt_writer *w = collected_begin(fd);

		collected_open(&p, i ? ALL & ~addresses : ALL, false);
		collected_map(w, 3, BASE, 0x100000);
		collected_block(w, &guarded, 1);
		collected_block(w, &lone, 2);
		collected_exec(w, &r, ids, 5, data, sizeof(data));
		collected_take(&p, fd, w);
		assert_int_equal(p.stats.damaged, 0);
		COLLECTED(&p, collected_find(&p, 0x1000, VT_WHAT_LOAD, 0, 0, 0), 20, 22);
		COLLECTED(&p, collected_find(&p, 0x1000, VT_WHAT_LOAD, 0, 1, 0), 30, 32);
		COLLECTED(&p, collected_find(&p, 0x1000, VT_WHAT_STORE, 1, 0, 0), 40, 41, 42);
		COLLECTED(&p, collected_find(&p, 0x1000, VT_WHAT_OPERAND, 2, 0, 0), 50, 51, 52);
		COLLECTED(&p, collected_find(&p, 0x1003, VT_WHAT_LOAD, 0, 0, 0), 60, 61, 62);
		COLLECTED(&p, collected_find(&p, 0x2000, VT_WHAT_OPERAND, 0, 0, 0), 70, 73);
		COLLECTED(&p, collected_find(&p, 0x2003, VT_WHAT_LOAD, 0, 0, 0), 71, 74);
		assert_int_equal(collected_count(&p, VT_WHAT_GUARD), 0);
		if (i) {
			assert_int_equal(collected_count(&p, VT_WHAT_LOAD_ADDRESS), 0);
			assert_int_equal(collected_count(&p, VT_WHAT_STORE_ADDRESS), 0);
		} else {
			COLLECTED(&p, collected_find(&p, 0x1000, VT_WHAT_LOAD_ADDRESS, 0, 0, 0), 10,
				  12);
			COLLECTED(&p, collected_find(&p, 0x2003, VT_WHAT_STORE_ADDRESS, 0, 0, 0),
				  75);
		}
		collected_close(&p);
	}
}

/* ---- values that come alone ---- */

struct alone {
	int64_t pid;
	uint64_t ip, what, reg, lane, size, value, caller, weight;
};

static void put_alone(struct vt_writer *w, const struct alone *a)
{
	uint64_t *row = vt_writer_row(w, VT_VALUE);

	row[VT_VALUE_PID] = (uint64_t)a->pid;
	row[VT_VALUE_IP] = a->ip;
	row[VT_VALUE_WHAT] = a->what;
	row[VT_VALUE_REG] = a->reg;
	row[VT_VALUE_LANE] = a->lane;
	row[VT_VALUE_SIZE] = a->size;
	row[VT_VALUE_VALUE] = a->value;
	row[VT_VALUE_CALLER] = a->caller;
	row[VT_VALUE_WEIGHT] = a->weight;
}

/* Each limit, and the first that is beyond it. */
static void test_impossible_values(void **state)
{
	static const struct alone values[] = {
		{PID, BASE + 1, VT_WHAT_LOAD, 0xffff, 0, 8, 1, 0, 0},
		{PID, BASE + 2, VT_WHAT_LOAD, 0, 0xffff, 8, 1, 0, 3},
		{PID, BASE + 3, VT_WHAT_LOAD, 0, 0, 0xffff, 1, 0, UINT64_C(1) << 40},
		{PID, BASE + 4, VT_WHAT_RETURN, 0, 0, 8, 1, 0, 0},
		{PID, BASE + 5, VT_NWHATS - 1, 0, 0, 8, 1, 0, 0},
		{PID, BASE + 6, VT_NWHATS, 0, 0, 8, 1, 0, 0},
		{PID, BASE + 7, VT_WHAT_LOAD, 0x10000, 0, 8, 1, 0, 0},
		{PID, BASE + 8, VT_WHAT_LOAD, 0, 0x10000, 8, 1, 0, 0},
		{PID, BASE + 9, VT_WHAT_LOAD, 0, 0, 0x10000, 1, 0, 0},
		{PID, BASE + 10, VT_WHAT_LOAD, 0, 0, 8, 1, 0, (UINT64_C(1) << 40) + 1},
	};
	int fd = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	struct collected_profile p;
	size_t i;

	(void)state;
	collected_open(&p, 1u << VT_WHAT_LOAD, false);
	collected_map(w, 3, BASE, 0x1000);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put_alone(w, &values[i]);
	collected_take(&p, fd, w);
	assert_int_equal(p.stats.damaged, 5);
	assert_int_equal(vt_sites_nlists(p.sites), 3);
	assert_int_equal(collected_find(&p, 1, VT_WHAT_LOAD, 0xffff, 0, 0)->total, 1);
	assert_int_equal(collected_find(&p, 2, VT_WHAT_LOAD, 0, 0xffff, 0)->total, 3);
	assert_int_equal(collected_find(&p, 3, VT_WHAT_LOAD, 0, 0, 0)->total, UINT64_C(1) << 40);
	collected_close(&p);
}

/* The same address is another place once something else is mapped there, and after an execve(). */
static void test_places_change(void **state)
{
	static const struct alone at = {PID, BASE + 0x10, VT_WHAT_LOAD, 0, 0, 8, 1, BASE + 0x20, 0};
	static const struct alone other = {PID + 1, BASE + 0x10, VT_WHAT_LOAD, 0, 0, 8, 1, 0, 0};
	static const char *const paths[] = {"/bin/a", "/bin/b", "//anon/7", "//anon/8"};
	static const uint64_t totals[] = {2, 1, 1, 1};
	const struct vt_site *site;
	int fd = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	struct collected_profile p;
	uint32_t size;
	size_t i;

	(void)state;
	collected_open(&p, 1u << VT_WHAT_LOAD, true);
	collected_image(w, 1, "/bin/a");
	collected_image(w, 2, "/bin/b");
	collected_map(w, 1, BASE, 0x1000);
	put_alone(w, &at);
	put_alone(w, &at);
	collected_map(w, 2, BASE, 0x1000);
	put_alone(w, &at);
	collected_thread(w, VT_OP_EXEC);
	put_alone(w, &at);
	put_alone(w, &other);
	collected_take(&p, fd, w);
	assert_int_equal(p.stats.unmapped, 2);
	assert_int_equal(vt_sites_nlists(p.sites), 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(vt_sites_list_at(p.sites, i, &site, &size)->total, totals[i]);
		assert_string_equal(vt_sites_image_path(p.sites, site->image), paths[i]);
		assert_int_equal(site->offset, i < 2 ? 0x10 : BASE + 0x10);
		assert_int_equal(site->caller, i < 2 ? 0x20 : i == 2 ? BASE + 0x20 : 0);
		if (site->caller)
			assert_int_equal(site->caller_image, site->image);
	}
	collected_close(&p);
}

/* Another stream's mappings are others: what the first had there does not count in it. */
static void test_second_stream(void **state)
{
	static const struct alone at = {PID, BASE + 0x10, VT_WHAT_LOAD, 0, 0, 8, 1, 0, 0};
	struct collected_profile p;
	const struct vt_site *site;
	uint32_t size;
	size_t i;

	(void)state;
	collected_open(&p, 1u << VT_WHAT_LOAD, false);
	for (i = 0; i < 2; i++) {
		int fd = scratch_file();
		struct vt_writer *w = collected_begin(fd);

		if (i == 0) {
			collected_image(w, 1, "/bin/a");
			collected_map(w, 1, BASE, 0x1000);
		}
		put_alone(w, &at);
		collected_take(&p, fd, w);
		assert_int_equal(p.stats.unmapped, i);
	}
	assert_int_equal(vt_sites_nlists(p.sites), 2);
	for (i = 0; i < 2; i++) {
		assert_int_equal(vt_sites_list_at(p.sites, i, &site, &size)->total, 1);
		assert_string_equal(vt_sites_image_path(p.sites, site->image),
				    i ? "//anon/7" : "/bin/a");
	}
	collected_close(&p);
}

/* Where images lie is kept with the lists. */
static void test_kept_maps(void **state)
{
	int fd = scratch_file(), to = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	struct collected_profile p;
	struct vt_record rec;
	struct vt_reader *r;
	unsigned n = 0;

	(void)state;
	collected_open(&p, 1u << VT_WHAT_LOAD, false);
	collected_image(w, 4, "/bin/a");
	collected_map(w, 4, BASE, 0x3000);
	collected_take(&p, fd, w);
	w = start_stream(to);
	assert_int_equal(vt_sites_write(p.sites, w, &err), 0);
	r = reread_stream(to, w);
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (rec.kind != VT_MAP)
			continue;
		assert_int_equal(vt_record_u64(&rec, VT_MAP_START), BASE);
		assert_int_equal(vt_record_u64(&rec, VT_MAP_LENGTH), 0x3000);
		n++;
	}
	assert_int_equal(n, 1);
	vt_reader_close(r);
	close(to);
	collected_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),	      cmocka_unit_test(test_long_run),
		cmocka_unit_test(test_guards),	      cmocka_unit_test(test_impossible_values),
		cmocka_unit_test(test_places_change), cmocka_unit_test(test_second_stream),
		cmocka_unit_test(test_kept_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
