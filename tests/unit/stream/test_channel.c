/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stream handed from thread to thread: its records, its end, and either side leaving early. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stream/channel.h"
#include "tests/unit/common/streams.h"

/* What the writing thread does: all results are checked by the reading one. */
struct job {
	struct vt_channel *channel;
	const struct vt_schema *extra;
	uint64_t records;
	enum vt_status status;
	const struct vt_failure *failure;
	int code; /* of closing the writer */
};

static void *write_job(void *arg)
{
	struct job *j = arg;
	const struct vt_writer_options opt = {.extra = j->extra};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = vt_writer_open_channel(j->channel, "made", &opt, &err);
	uint64_t i;

	j->code = -(int)err.code;
	if (!w)
		return NULL;
	for (i = 0; i < j->records; i++)
		write_record(w, i);
	if (j->status == VT_STATUS_MISSING)
		vt_writer_abandon(w);
	else
		j->code = j->failure ? vt_writer_fail(w, j->failure, &err)
				     : vt_writer_close(w, j->status, &err);
	return NULL;
}

static struct vt_reader *start_job(struct job *j, pthread_t *thread)
{
	struct vt_error err;
	struct vt_reader *r;

	j->channel = vt_channel_new();
	assert_non_null(j->channel);
	assert_int_equal(pthread_create(thread, NULL, write_job, j), 0);
	r = vt_reader_open_channel(j->channel, "made", &err);
	assert_non_null(r);
	assert_string_equal(vt_reader_name(r), "made");
	return r;
}

static void end_job(struct job *j, pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
	vt_channel_free(j->channel);
}

static void check_end(struct vt_reader *r, const struct job *j)
{
	struct vt_record rec = {0};
	struct vt_error err;

	if (j->status == VT_STATUS_MISSING) {
		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		assert_int_equal(rec.kind, VT_GAP);
		assert_int_equal(vt_reader_next(r, &rec, &err), -VT_E_TRUNC);
	}
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	assert_int_equal(vt_reader_status(r), j->status);
	assert_int_equal(vt_reader_damage(r)->truncated, j->status == VT_STATUS_MISSING);
	assert_int_equal(vt_reader_offset(r), 0);
}

static void pass_records(uint64_t n, enum vt_status status)
{
	struct job j = {.records = n, .status = status};
	struct vt_record rec = {0};
	struct vt_error err;
	struct vt_reader *r;
	pthread_t thread;
	uint64_t i;

	r = start_job(&j, &thread);
	/* Frames that were begun are dropped with an abandoned writer. */
	for (i = 0; status != VT_STATUS_MISSING && i < n; i++) {
		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		check_record(&rec, i);
	}
	check_end(r, &j);
	assert_null(vt_reader_failure(r));
	vt_reader_close(r);
	end_job(&j, thread);
	assert_int_equal(j.code, 0);
}

static void test_passes_records(void **state)
{
	(void)state;
	pass_records(0, VT_STATUS_COMPLETE);
	pass_records(1, VT_STATUS_COMPLETE);
	pass_records(100000, VT_STATUS_LOSSY);
	pass_records(1, VT_STATUS_MISSING);
}

static void test_failure(void **state)
{
	const struct vt_failure failure = {.program = "prog", .why = "no reason"};
	struct job j = {.records = 3, .status = VT_STATUS_INTERRUPTED, .failure = &failure};
	struct vt_record rec = {0};
	struct vt_error err;
	struct vt_reader *r;
	pthread_t thread;
	uint64_t i;

	(void)state;
	r = start_job(&j, &thread);
	for (i = 0; i < 3; i++)
		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	check_end(r, &j);
	assert_string_equal(vt_reader_failure(r)->program, "prog");
	assert_string_equal(vt_reader_failure(r)->why, "no reason");
	vt_reader_close(r);
	end_job(&j, thread);
}

/* The record at hand stays as it is while the writer fills the next frame, and is stopped. */
static void test_reader_leaves(void **state)
{
	struct job j = {.records = 300000, .status = VT_STATUS_COMPLETE};
	struct vt_record rec = {0};
	struct vt_error err;
	struct vt_reader *r;
	pthread_t thread;

	(void)state;
	r = start_job(&j, &thread);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	vt_channel_stop(j.channel);
	end_job(&j, thread);
	check_record(&rec, 0);
	vt_reader_close(r);
	assert_int_equal(j.code, 0);
}

/* Kinds that the reader's library does not know come through with their fields. */
static void test_foreign_kind(void **state)
{
	struct job j = {.records = 10, .status = VT_STATUS_COMPLETE};
	struct vt_schema extra;
	struct vt_error err;
	struct vt_reader *r;
	pthread_t thread;
	int kind;

	(void)state;
	assert_int_equal(vt_schema_init(&extra, &err), 0);
	kind = vt_schema_add_kind(&extra, "x.other", &err);
	assert_true(kind >= 0);
	assert_int_equal(vt_schema_add_field(&extra.kinds[kind], "n", VT_TYPE_U, "things", &err),
			 0);
	j.extra = &extra;
	r = start_job(&j, &thread);
	kind = vt_schema_find(vt_reader_schema(r), "x.other");
	assert_true(kind >= VT_NKINDS);
	assert_string_equal(vt_reader_schema(r)->kinds[kind].fields[0].unit, "things");
	vt_channel_stop(j.channel);
	end_job(&j, thread);
	vt_reader_close(r);
	vt_schema_fini(&extra);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes_records),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_reader_leaves),
		cmocka_unit_test(test_foreign_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
