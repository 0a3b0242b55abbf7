/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibrations as records: what is written is read, and nothing else is taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "calibrate/calibration.h"
#include "tests/unit/common/streams.h"

#define CPU "AuthenticAMD,25,1,1"

static struct vt_error err;

static struct vt_calibration make_calibration(void)
{
	struct vt_calibration c = {.event = "cpu-clock:u",
				   .cpu = CPU,
				   .nanoseconds = 1,
				   .period = 1000003,
				   .lost = 2,
				   .skid = {4000, 0.0625, 0.875},
				   .clock = 3.125,
				   .spread = 0.0078125,
				   .tsc = 2.5,
				   .multiply = 3.0625,
				   .bound = {2.25, 6, 45}};
	int i;

	for (i = 0; i < VT_CALIBRATION_RATES; i++)
		c.rates[i] = (struct vt_calibration_rate){1000 + i, 998 + i,  0.25 / (1 + i),
							  -0.5,	    2.75 + i, 0.03125};
	for (i = 0; i < VT_CALIBRATION_LENGTHS; i++)
		c.lengths[i] = (struct vt_calibration_length){6 << i, 2000 + i, i - 3, 0.5 + i};
	return c;
}

/* A stream with the facts of a calibration, but one: that has another value, or is left out. */
static struct vt_reader *stream_with(const struct vt_calibration *c, const char *key,
				     const char *value)
{
	int whole = scratch_file(), fd = scratch_file();
	struct vt_writer *w = start_stream(whole);
	struct vt_reader *r;
	struct vt_record rec;

	vt_calibration_write(c, w);
	r = reread_stream(whole, w);
	w = start_stream(fd);
	assert_int_equal(vt_writer_add_input(w, r, &err), 0);
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (!key || !vt_record_is_meta(&rec, key))
			vt_writer_copy(w, &rec);
		else if (value)
			vt_writer_meta(w, key, value);
	}
	vt_reader_close(r);
	close(whole);
	return reread_stream(fd, w);
}

static void assert_kept(const struct vt_calibration *c)
{
	struct vt_calibration read;
	struct vt_reader *r = stream_with(c, NULL, NULL);

	assert_int_equal(vt_calibration_read(&read, r, &err), 0);
	assert_memory_equal(&read, c, sizeof(*c));
	vt_reader_close(r);
}

static void test_round_trip(void **state)
{
	struct vt_calibration c = make_calibration();

	(void)state;
	assert_kept(&c);
	/* No region can be believed. */
	c.bound = (struct vt_serial_bound){0};
	assert_kept(&c);
}

static void assert_refused(const char *key, const char *value, int code, const char *text)
{
	const struct vt_calibration c = make_calibration();
	struct vt_calibration read;
	struct vt_reader *r = stream_with(&c, key, value);

	assert_int_equal(vt_calibration_read(&read, r, &err), -code);
	if (!strstr(err.text, text))
		fail_msg("'%s' is not in: %s", text, err.text);
	assert_memory_equal(err.text, "test: ", 6);
	vt_reader_close(r);
}

static void test_refusals(void **state)
{
	char long_text[200];

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_refused("record.calibrate.clock", "fast", VT_E_DAMAGED,
		       ": record.calibrate.clock: no number that can be: 'fast'");
	assert_refused("record.calibrate.clock", "fast", VT_E_DAMAGED, "test: before offset 0x");
	assert_refused("record.calibrate.clock", "nan", VT_E_DAMAGED, "'nan'");
	assert_refused("record.calibrate.clock", "", VT_E_DAMAGED, "no number");
	assert_refused("record.calibrate.clock", "-1", VT_E_DAMAGED, "'-1'");
	assert_refused("record.calibrate.clock", "1001", VT_E_DAMAGED, "'1001'");
	assert_refused("record.calibrate.skid.own", "1.5", VT_E_DAMAGED, "'1.5'");
	assert_refused("record.calibrate.period", "0", VT_E_DAMAGED, "'0'");
	assert_refused("record.calibrate.rate.1.cost", "2", VT_E_DAMAGED, "'2'");
	assert_refused("record.calibrate.cpu", "", VT_E_DAMAGED, "is empty");
	assert_refused("record.calibrate.event", long_text, VT_E_DAMAGED, "is too long");
	assert_refused("record.calibrate.bound.least", NULL, VT_E_ABSENT,
		       "a calibration without record.calibrate.bound.least");
	assert_refused("record.calibrate.event", NULL, VT_E_ABSENT,
		       "a calibration without record.calibrate.event");
}

/* Writes facts behind those of a calibration, or alone, and reads them. */
static int read_with(bool whole, const char *key, const char *value, size_t size)
{
	const struct vt_calibration c = make_calibration();
	struct vt_calibration read;
	int fd = scratch_file(), code;
	struct vt_writer *w = start_stream(fd);
	struct vt_reader *r;

	if (whole)
		vt_calibration_write(&c, w);
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_bytes(w, VT_META_VALUE, value, size);
	r = reread_stream(fd, w);
	code = vt_calibration_read(&read, r, &err);
	vt_reader_close(r);
	return code;
}

static void test_other_facts(void **state)
{
	char long_text[200];

	(void)state;
	assert_int_equal(read_with(true, "cpuid", "x", 1), 0);
	/* Of a later version. */
	assert_int_equal(read_with(true, "record.calibrate.new", "x", 1), 0);
	assert_int_equal(read_with(true, "record.calibrate.new", "x\0", 2), 0);
	memset(long_text, 'x', sizeof(long_text));
	assert_int_equal(read_with(true, "record.calibrate.new", long_text, sizeof(long_text)), 0);
	assert_int_equal(read_with(true, "record.calibrate.clock", "3", 1), -VT_E_DAMAGED);
	assert_non_null(strstr(err.text, "record.calibrate.clock: is there twice"));
	assert_int_equal(read_with(true, "record.calibrate.cpu", CPU, 3), -VT_E_DAMAGED);
	assert_non_null(strstr(err.text, "record.calibrate.cpu: is there twice"));
	assert_int_equal(read_with(false, "record.calibrate.clock", "3\0", 3), -VT_E_DAMAGED);
	assert_non_null(strstr(err.text, "is no text"));
	assert_int_equal(read_with(false, "cpuid", "x", 1), -VT_E_ABSENT);
	assert_string_equal(err.text,
			    "test: no calibration (vtrace record --calibrate -o makes one)");
}

/* Each byte of the file behind its header is guarded by a checksum. */
static void test_damage(void **state)
{
	const struct vt_calibration c = make_calibration();
	struct vt_calibration read;
	struct vt_error ignored;
	struct vt_reader *r = stream_with(&c, NULL, NULL);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint8_t *data;
	size_t size;

	(void)state;
	vt_reader_close(r);
	vt_calibration_write(&c, w);
	vt_reader_close(reread_stream(fd, w));
	data = slurp(fd, &size);
	data[size - 200] ^= 1;
	assert_int_equal(pwrite(fd, data, size, 0), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &ignored);
	assert_non_null(r);
	assert_int_equal(vt_calibration_read(&read, r, &err), -VT_E_DAMAGED);
	assert_non_null(strstr(err.text, " 0x"));
	vt_reader_close(r);
	/* Cut. */
	data[size - 200] ^= 1;
	assert_int_equal(pwrite(fd, data, size, 0), size);
	assert_int_equal(ftruncate(fd, (off_t)size - 8), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &ignored);
	assert_non_null(r);
	assert_true(vt_calibration_read(&read, r, &err) < 0);
	vt_reader_close(r);
	free(data);
}

static void test_check(void **state)
{
	const struct vt_calibration c = make_calibration();

	(void)state;
	assert_int_equal(vt_calibration_check(&c, "f", CPU, "cpu-clock:u", &err), 0);
	assert_int_equal(vt_calibration_check(&c, "f", "GenuineIntel,6,85,7", "cpu-clock:u", &err),
			 -VT_E_MISMATCH);
	assert_string_equal(err.text, "f: the calibration of another processor: " CPU
				      ", this is GenuineIntel,6,85,7");
	assert_int_equal(vt_calibration_check(&c, "f", CPU, "cycles:P", &err), -VT_E_MISMATCH);
	assert_string_equal(err.text,
			    "f: the calibration of another event: cpu-clock:u, not cycles:P");
}

/* What an interrupt costs at 1 kHz, for as many as there are by default. */
static void test_lost(void **state)
{
	struct vt_calibration c = make_calibration();

	(void)state;
	c.rates[0].cost = 40e-6;
	c.period = 1e6;
	assert_true(vt_calibration_lost(&c) > 0.0399999 && vt_calibration_lost(&c) < 0.0400001);
	/* A million of 3.125 cycles a ns: 3125 times a second. */
	c.nanoseconds = 0;
	assert_true(vt_calibration_lost(&c) > 0.1249999 && vt_calibration_lost(&c) < 0.1250001);
	c.period = 1e3;
	assert_true(vt_calibration_lost(&c) == 1);
	assert_int_equal(vt_calibration_policy(&c), VT_POLICY_INTERRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_other_facts), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_check),	    cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
