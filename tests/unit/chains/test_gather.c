/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call trees that CHAIN records hold: sums, what COUNT records have besides, and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "chains/gather.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

#define CALL_IMAGE 3

struct fixture {
	struct vt_writer *w;
	struct vt_context *context;
	struct vt_callgather *g;
	int fd;
};

static struct fixture start(void)
{
	struct fixture f = {.fd = scratch_file()};

	f.w = start_stream(f.fd);
	f.context = vt_context_new(NULL);
	f.g = vt_callgather_new(f.context);
	assert_non_null(f.g);
	vt_context_add(f.context, &(struct vt_consumer){.take = vt_callgather_feed,
							.arg = f.g,
							.kinds = VT_CALLGATHER_KINDS});
	return f;
}

/* A record of event 1 with a period of ten a sample; a root where `parent` is 0. */
static uint64_t *put_chain(struct vt_writer *w, uint64_t id, uint64_t parent, uint64_t offset,
			   uint64_t samples)
{
	uint64_t *row = vt_writer_row(w, VT_CHAIN);

	row[VT_CHAIN_ID] = id;
	row[VT_CHAIN_PARENT] = parent;
	row[VT_CHAIN_EVENT] = 1;
	row[VT_CHAIN_IMAGE] = parent ? CALL_IMAGE : 0;
	row[VT_CHAIN_OFFSET] = offset;
	row[VT_CHAIN_SAMPLES] = samples;
	row[VT_CHAIN_PERIOD] = 10 * samples;
	return row;
}

static void put_count(struct vt_writer *w, uint64_t offset, uint64_t samples)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = CALL_IMAGE;
	row[VT_COUNT_OFFSET] = offset;
	row[VT_COUNT_EVENT] = 1;
	row[VT_COUNT_SAMPLES] = samples;
	row[VT_COUNT_PERIOD] = 10 * samples;
}

/* Reads what was written, and returns the root of event 1. */
static struct vt_callroot gather(struct fixture *f)
{
	struct vt_reader *r = reread_stream(f->fd, f->w);
	const struct vt_block *block;
	struct vt_callroot root;
	uint32_t first, count;
	int rc;

	while ((rc = vt_reader_next_run(r, &block, &first, &count, &err)) == 1)
		assert_int_equal(vt_context_feed(f->context, block, first, count, &err), 0);
	assert_int_equal(rc, 0);
	vt_reader_close(r);
	close(f->fd);
	assert_int_equal(vt_callgather_end(f->g, &err), 0);
	assert_true(vt_callgather_root_at(f->g, 0, &root));
	assert_int_equal(root.event, 1);
	assert_false(root.executed);
	return root;
}

static void end(struct fixture *f)
{
	vt_callgather_free(f->g);
	vt_context_free(f->context);
}

/* The only node below a parent at an offset, with VT_CALL_SKID as `skid` says. */
static uint32_t expect_node(const struct fixture *f, uint32_t parent, uint64_t offset, bool skid,
			    uint64_t samples)
{
	const struct vt_calltree *t = vt_callgather_tree(f->g);
	uint32_t found = VT_CALL_NONE;
	size_t i;

	for (i = 0; i < vt_calltree_count(t); i++) {
		const struct vt_callnode *n = vt_calltree_at(t, i);

		if (n->parent != parent || n->key == VT_CALL_CUT ||
		    vt_callgather_place(f->g, n->key).offset != offset ||
		    ((n->key & VT_CALL_SKID) != 0) != skid)
			continue;
		assert_int_equal(found, VT_CALL_NONE);
		assert_int_equal(vt_callgather_place(f->g, n->key).image, CALL_IMAGE);
		assert_int_equal(n->self.samples, samples);
		assert_int_equal(n->self.period, 10 * samples);
		found = (uint32_t)i;
	}
	assert_int_not_equal(found, VT_CALL_NONE);
	return found;
}

static void trees_of_records_add_up(void **state)
{
	struct fixture f = start();
	struct vt_callroot root;
	uint64_t *row;
	uint32_t node;

	(void)state;
	put_count(f.w, 0x30, 5);
	put_count(f.w, 0x40, 4);
	row = put_chain(f.w, 1, 0, 0, 0);
	row[VT_CHAIN_CHAINS] = 7;
	row[VT_CHAIN_UNWOUND] = 3;
	row[VT_CHAIN_SHORTENED] = 2;
	put_chain(f.w, 2, 1, 0x10, 0);
	put_chain(f.w, 5, 2, 0x30, 2); /* ids may have gaps */
	put_chain(f.w, 6, 2, 0x40, 4)[VT_CHAIN_FLAGS] = VT_CHAIN_SKID;
	put_chain(f.w, 7, 2, 0x30, 1);	  /* a place of one parent may come twice, */
	row = put_chain(f.w, 8, 0, 0, 0); /* and so may a root */
	row[VT_CHAIN_CHAINS] = 2;
	row[VT_CHAIN_DAMAGED] = 1;
	row[VT_CHAIN_CUT] = 1;
	put_chain(f.w, 9, 8, 0x10, 0);
	root = gather(&f);
	assert_int_equal(vt_callgather_damage(f.g)->refused, 0);
	node = expect_node(&f, root.node, 0x10, false, 0);
	expect_node(&f, node, 0x30, false, 3);
	expect_node(&f, node, 0x40, true, 4);
	/* What COUNT records have besides. */
	expect_node(&f, root.node, 0x30, false, 2);
	assert_int_equal(vt_calltree_count(vt_callgather_tree(f.g)), 5);
	assert_int_equal(root.counts.samples, 9);
	assert_int_equal(root.counts.chains, 9);
	assert_int_equal(root.counts.unwound, 3);
	assert_int_equal(root.counts.damaged, 1);
	assert_int_equal(root.counts.cut, 1);
	assert_int_equal(root.counts.shortened, 2);
	end(&f);
}

static void counts_alone_have_no_callers(void **state)
{
	struct fixture f = start();
	struct vt_callroot root;

	(void)state;
	put_count(f.w, 0x30, 5);
	put_count(f.w, 0x30, 1);
	root = gather(&f);
	expect_node(&f, root.node, 0x30, false, 6);
	assert_int_equal(root.counts.samples, 6);
	assert_int_equal(root.counts.chains, 0);
	end(&f);
}

/* It is not known which counts are those of chains without a place. */
static void a_full_tree_has_no_rest(void **state)
{
	struct fixture f = start();
	const struct vt_callnode *n;
	struct vt_callroot root;

	(void)state;
	put_count(f.w, 0x30, 5);
	put_chain(f.w, 1, 0, 0, 0);
	put_chain(f.w, 2, 1, 0x30, 2);
	put_chain(f.w, 3, 1, 0, 3)[VT_CHAIN_FLAGS] = VT_CHAIN_FULL;
	root = gather(&f);
	expect_node(&f, root.node, 0x30, false, 2);
	n = vt_calltree_at(vt_callgather_tree(f.g), 2);
	assert_int_equal(n->key, VT_CALL_CUT);
	assert_int_equal(n->self.samples, 3);
	assert_int_equal(root.counts.samples, 5);
	assert_int_equal(vt_calltree_count(vt_callgather_tree(f.g)), 3);
	end(&f);
}

/* A record after a good tree of two nodes. */
static void refuse(const char *why, uint64_t id, uint64_t parent, unsigned field, uint64_t value)
{
	struct fixture f = start();
	struct vt_callroot root;
	uint64_t *row;

	put_chain(f.w, 1, 0, 0, 0);
	put_chain(f.w, 2, 1, 0x10, 1);
	row = put_chain(f.w, id, parent, 0x20, 0);
	row[field] = value;
	put_chain(f.w, 9, 1, 0x30, 1);
	root = gather(&f);
	assert_int_equal(vt_callgather_damage(f.g)->refused, 1);
	assert_non_null(strstr(vt_callgather_damage(f.g)->first.text, why));
	expect_node(&f, root.node, 0x10, false, 1);
	expect_node(&f, root.node, 0x30, false, 1);
	assert_int_equal(vt_calltree_count(vt_callgather_tree(f.g)), 3);
	assert_int_equal(root.counts.samples, 2);
	end(&f);
}

static void what_contradicts_itself_is_left_out(void **state)
{
	(void)state;
	refuse("CHAIN 3: its parent 4 is not before it", 3, 4, VT_CHAIN_SAMPLES, 1);
	refuse("CHAIN 3: its parent 3 is not before it", 3, 3, VT_CHAIN_SAMPLES, 1);
	refuse("CHAIN 2 after 2: ids rise, to 4194304 at most", 2, 1, VT_CHAIN_SAMPLES, 1);
	refuse("CHAIN 4194305 after 2: ids rise", 4194305, 1, VT_CHAIN_SAMPLES, 1);
	refuse("CHAIN 0 after 2: ids rise", 0, 1, VT_CHAIN_SAMPLES, 1);
	refuse("CHAIN 3: its parent is of another event", 3, 2, VT_CHAIN_EVENT, 2);
	refuse("CHAIN 3: there is no image 4294967296", 3, 2, VT_CHAIN_IMAGE, UINT64_C(1) << 32);
	refuse("CHAIN 3: there is no image 4294967295", 3, 2, VT_CHAIN_IMAGE, VT_UNMAPPED_IMAGE);
	refuse("CHAIN 3: a sum is impossibly high", 3, 2, VT_CHAIN_SAMPLES, UINT64_MAX);
	refuse("CHAIN 3: a sum is impossibly high", 3, 2, VT_CHAIN_PERIOD, UINT64_MAX - 9);
	refuse("CHAIN 3 has samples or flags, but no parent", 3, 0, VT_CHAIN_SAMPLES, 1);
	refuse("CHAIN 3 has samples or flags, but no parent", 3, 0, VT_CHAIN_PERIOD, 1);
	refuse("CHAIN 3 has samples or flags, but no parent", 3, 0, VT_CHAIN_FLAGS, VT_CHAIN_FULL);
	refuse("CHAIN 3 is below samples without chains", 3, 2, VT_CHAIN_FLAGS, VT_CHAIN_FULL);
}

static void chains_have_a_limit(void **state)
{
	struct fixture f = start();
	uint64_t id;

	(void)state;
	put_chain(f.w, 1, 0, 0, 0);
	for (id = 2; id <= 1025; id++)
		put_chain(f.w, id, id - 1, id, 1);
	put_chain(f.w, 1026, 1025, 0, 1);
	put_chain(f.w, 4194304, 1024, 0, 1);
	assert_int_equal(gather(&f).counts.samples, 1025);
	assert_int_equal(vt_callgather_damage(f.g)->refused, 1);
	assert_string_equal(vt_callgather_damage(f.g)->first.text,
			    "CHAIN 1026: more than 1024 frames");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_of_records_add_up),
		cmocka_unit_test(counts_alone_have_no_callers),
		cmocka_unit_test(a_full_tree_has_no_rest),
		cmocka_unit_test(what_contradicts_itself_is_left_out),
		cmocka_unit_test(chains_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
