/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Full recordings, event by event: each field of each record that comes of one; events that say
 * what cannot be; what goes on outside the window.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "stream/bblock.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/formats/recording/recordings.h"
#include "tests/unit/formats/recording/rings.h"

#define PID   RECORDINGS_PID
#define START "THREAD TIME=1000 PID=500 TID=500 OP=1 PPID=40 PTID=500 COMM=70\n"

/* ---- every event ---- */

static void put_map(struct rings *r, const char *name, uint64_t dev, uint64_t ino)
{
	struct vt_ring_map m = {.addr = 0x1000,
				.length = 0x2000,
				.offset = 0x3000,
				.dev = dev,
				.ino = ino,
				.prot = 5,
				.flags = 1,
				.name_length = (uint32_t)strlen(name)};

	rings_event(r, VT_RING_MAP, 501, &m, sizeof(m), name, m.name_length);
}

static void put_state(struct rings *r, unsigned reason, uint32_t mxcsr)
{
	struct vt_ring_registers s = {.mxcsr = mxcsr, .reason = reason};

	memset(s.vector, 7, sizeof(s.vector));
	rings_event(r, VT_RING_STATE, r->tid, &s, sizeof(s), NULL, 0);
}

static void put_rest(struct rings *r)
{
	const struct vt_ring_signal signal = {.ip = 11, .handler = 12, .number = 13};
	const struct vt_ring_syscall call = {
		.args = {1, 2, 3, 4, 5, 6}, .result = -14, .number = 15};
	const struct vt_ring_memory memory = {.addr = 16, .length = 3};

	rings_event(r, VT_RING_SIGNAL, PID, &signal, sizeof(signal), NULL, 0);
	rings_event(r, VT_RING_SYSCALL, PID, &call, sizeof(call), NULL, 0);
	rings_event(r, VT_RING_MEMORY, PID, &memory, sizeof(memory), "abc", 3);
}

static const uint64_t slots[] = {0x0000000200010000, 0x0000000100010001};

static const char every_event[] =
	"THREAD TIME=1000 PID=500 TID=500 OP=1 PPID=40 PTID=500 "
	"COMM=612d6e616d652d746f6f2d6c6f6e67\n"
	"IMAGE ID=0 TYPE=0 MACHINE=62 PATH=2f6e6f2f737563682f66696c65\n"
	"MAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 OFFSET=12288 IMAGE=0 PROT=5 FLAGS=1 "
	"INO=4\n"
	"IMAGE ID=1 TYPE=0 MACHINE=62 PATH=2f6e6f2f737563682f66696c65\n"
	"MAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 OFFSET=12288 IMAGE=1 PROT=5 FLAGS=1 "
	"INO=5\n"
	"MAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 OFFSET=12288 IMAGE=0 PROT=5 FLAGS=1 "
	"INO=4\n"
	"IMAGE ID=2 TYPE=3 MACHINE=62 PATH=5b7664736f5d\n"
	"MAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 OFFSET=12288 IMAGE=2 PROT=5 FLAGS=1 "
	"INO=0\n"
	"IMAGE ID=3 TYPE=3 MACHINE=62 PATH=5b7673797363616c6c5d\n"
	"MAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 OFFSET=12288 IMAGE=3 PROT=5 FLAGS=1 "
	"INO=0\n"
	"IMAGE ID=4 TYPE=4 MACHINE=62 PATH=5b686561705d\n"
	"MAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 OFFSET=12288 IMAGE=4 PROT=5 FLAGS=1 "
	"INO=0\n"
	"IMAGE ID=5 TYPE=4 MACHINE=62 PATH=2f2f616e6f6e\n"
	"MAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 OFFSET=12288 IMAGE=5 PROT=5 FLAGS=1 "
	"INO=0\n"
	"BLOCK ID=1 PID=500 ADDR=64 SIZE=5 INSNS=2 END=4 TARGET=80 LENGTHS=0302 "
	"CODE=488b07ffd0 SLOTS=200010000,100010001\n"
	"EXEC TIME=1000 PID=500 TID=500 FIRST=0 BLOCKS=1 INSNS=2 SKIP=0 BASE=1 WIDTH=2 "
	"IDS=0000 DATA=111213\n"
	"THREAD TIME=1000 PID=500 TID=502 OP=2 PPID=500 PTID=501 COMM\n"
	"EXEC TIME=1000 PID=500 TID=502 FIRST=2 BLOCKS=2 INSNS=3 SKIP=0 BASE=1 WIDTH=2 "
	"IDS=00000000 DATA=2122233132\n"
	"STATE PID=500 TID=500 FIRST=5 REASON=2 MXCSR=8 REGS*24 "
	"VECTOR=07070707070707070707070707070707..512\n"
	"SIGNAL PID=500 TID=500 FIRST=5 NUMBER=13 IP=11 HANDLER=12\n"
	"SYSCALL PID=500 TID=500 FIRST=5 NUMBER=15 RESULT=-14 ARGS=1,2,3,4,5,6\n"
	"MEMORY PID=500 TID=500 FIRST=5 ADDR=16 DATA=616263\n"
	"LOST TIME=1000 PID=500 TID=503 COUNT=9 SOURCE=776879\n"
	"THREAD TIME=1000 PID=500 TID=502 OP=3 PPID=500 PTID=502 COMM\n"
	"THREAD TIME=1000 PID=500 TID=500 OP=3 PPID=40 PTID=500 COMM\n";

static void test_every_event(void **state)
{
	const struct vt_recording_options opt = {0};
	const struct vt_ring_block block = {.addr = 0x40,
					    .target = 0x50,
					    .id = 1,
					    .size = 5,
					    .ninsns = 2,
					    .nslots = 2,
					    .data_size = 3,
					    .end = VT_END_CALL};
	const struct vt_ring_lost lost = {.count = 9, .text_length = 3};
	const struct vt_ring_fork forks[] = {{600, 0}, {601, 1}};
	static const uint8_t code[] = {3, 2, 0x48, 0x8b, 0x07, 0xff, 0xd0}; /* lengths first */
	uint8_t more[sizeof(slots) + sizeof(code)] = {0};
	struct vt_recording_summary sum;
	struct recordings s;

	(void)state;
	recordings_open(&s, &opt);
	rings_start(&s.ring, 40, 0, "/usr/bin/a-name-too-long-for-linux");
	put_map(&s.ring, "/no/such/file", 3, 4);
	put_map(&s.ring, "/no/such/file", 3, 5);
	put_map(&s.ring, "/no/such/file", 3, 4);
	put_map(&s.ring, "[vdso]", 0, 0);
	put_map(&s.ring, "[vsyscall]", 0, 0);
	put_map(&s.ring, "[heap]", 0, 0);
	put_map(&s.ring, "", 0, 0);
	memcpy(more, slots, sizeof(slots));
	memcpy(more + sizeof(slots), code, sizeof(code));
	rings_event(&s.ring, VT_RING_BLOCK, PID, &block, sizeof(block), more, sizeof(more));
	rings_run(&s.ring, 1, "\x11\x12\x13", 3);
	rings_number(&s.ring, VT_RING_THREAD, 502, 501);
	rings_number(&s.ring, VT_RING_THREAD, PID, PID);
	rings_event(&s.ring, VT_RING_SWITCH, 502, NULL, 0, NULL, 0);
	rings_run(&s.ring, 1, "\x21\x22\x23", 3);
	rings_run(&s.ring, 1, "\x31\x32", 2);
	rings_number(&s.ring, VT_RING_PARTIAL, 502, 1);
	put_state(&s.ring, VT_STATE_SIGNAL, 8);
	put_state(&s.ring, VT_STATE_WINDOW, 9);
	put_rest(&s.ring);
	rings_event(&s.ring, VT_RING_FORK, PID, &forks[0], sizeof(forks[0]), NULL, 0);
	rings_event(&s.ring, VT_RING_FORK, PID, &forks[1], sizeof(forks[1]), NULL, 0);
	rings_event(&s.ring, VT_RING_LOST, 503, &lost, sizeof(lost), "why", 3);
	rings_event(&s.ring, VT_RING_THREAD_EXIT, 502, NULL, 0, NULL, 0);
	rings_event(&s.ring, VT_RING_THREAD_EXIT, PID, NULL, 0, NULL, 0);
	rings_number(&s.ring, VT_RING_EXIT, PID, 0);
	rings_end(&s.ring);
	assert_string_equal(vt_buf_str(&s.warnings), "process 500: left out: why (9)\n");
	sum = recordings_close(&s, every_event);
	assert_int_equal(sum.processes, 1);
	assert_int_equal(sum.insns, 5);
	assert_int_equal(sum.blocks, 3);
	assert_int_equal(sum.data, 8);
	assert_int_equal(sum.gaps, 0);
	assert_int_equal(sum.cut, 0);
	assert_int_equal(sum.left_out, 1);
	assert_int_equal(sum.unfollowed, 1);
}

/* ---- files that are mapped ---- */

/* Writes an ELF file of AArch64 with a build-id of 20 bytes 'i', or without; its inode. */
static uint64_t write_elf(const char *path, bool with_id)
{
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_AARCH64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1};
	Elf64_Phdr p = {.p_type = with_id ? PT_NOTE : PT_NULL,
			.p_flags = PF_R,
			.p_offset = sizeof(h) + sizeof(p),
			.p_filesz = 12 + 4 + 20,
			.p_memsz = 12 + 4 + 20,
			.p_align = 4};
	Elf64_Nhdr n = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID};
	FILE *f = fopen(path, "w");
	struct stat st;

	assert_non_null(f);
	fwrite(&h, sizeof(h), 1, f);
	fwrite(&p, sizeof(p), 1, f);
	fwrite(&n, sizeof(n), 1, f);
	fwrite("GNU", 4, 1, f);
	fwrite("iiiiiiiiiiiiiiiiiiii", 20, 1, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* What a file says of itself counts if it is still the one that was mapped. */
static void test_files(void **state)
{
	static const struct {
		bool elf, with_id;
		int ino; /* off by this; 2: not known */
		const char *machine, *more;
	} cases[] = {
		{true, true, 0, "183", " BUILDID=69696969696969696969696969696969..20"},
		{true, true, 2, "183", " BUILDID=69696969696969696969696969696969..20"},
		{true, true, 1, "62", ""},
		{true, false, 0, "183", ""},
		{false, false, 0, "62", ""},
	};
	const struct vt_recording_options opt = {0};
	struct vt_buf want = VT_BUF_INIT;
	struct recordings s;
	size_t i;

	(void)state;
	recordings_open(&s, &opt);
	rings_start(&s.ring, 40, 0, "p");
	vt_buf_printf(&want, "THREAD TIME=1000 PID=500 TID=500 OP=1 PPID=40 PTID=500 COMM=70\n");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char name[] = {'f', (char)('0' + i), 0};
		const char *path = toolbox_path(s.dir, name);
		uint64_t ino = write_elf(path, cases[i].with_id);

		if (!cases[i].elf)
			assert_int_equal(truncate(path, 10), 0);
		ino = cases[i].ino == 2 ? 0 : ino + (uint64_t)cases[i].ino;
		put_map(&s.ring, path, 3, ino);
		vt_buf_printf(&want, "IMAGE ID=%zu TYPE=0 MACHINE=%s", i, cases[i].machine);
		recordings_put_bytes(&want, "PATH",
				     (struct vt_bytes){(const uint8_t *)path, strlen(path)});
		vt_buf_printf(&want,
			      "%s\nMAP TIME=1000 PID=500 TID=501 START=4096 LENGTH=8192 "
			      "OFFSET=12288 IMAGE=%zu PROT=5 FLAGS=1 INO=%" PRIu64 "\n",
			      cases[i].more, i, ino);
	}
	rings_number(&s.ring, VT_RING_EXIT, PID, 0);
	rings_end(&s.ring);
	vt_buf_printf(&want, "THREAD TIME=1000 PID=500 TID=500 OP=3 PPID=40 PTID=500 COMM\n");
	recordings_close(&s, vt_buf_str(&want));
	vt_buf_free(&want);
}

/* ---- what cannot be used ---- */

/* A directory that there is not, or that another recording has. */
static void test_no_directory(void **state)
{
	static const char *const taken[] = {"control", "shared"};
	const struct vt_recording_options opt = {0};
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_recording *rec;
	char *dir, *left;
	size_t i;

	(void)state;
	assert_null(vt_recording_open("/no/such/directory", w, &opt, &err));
	assert_int_equal(err.code, VT_E_SYSTEM);
	for (i = 0; i < 2; i++) {
		dir = toolbox_dir();
		toolbox_write(dir, taken[i], "");
		assert_null(vt_recording_open(dir, w, &opt, &err));
		assert_int_equal(err.code, VT_E_SYSTEM);
		assert_non_null(strstr(err.text, taken[i]));
		toolbox_remove(dir);
	}
	/* Nothing of one that was right is left open, or in its directory. */
	dir = toolbox_dir();
	rec = vt_recording_open(dir, w, &opt, &err);
	assert_non_null(rec);
	i = (size_t)vt_recording_fd(rec);
	assert_true(fcntl((int)i, F_GETFD) >= 0);
	vt_recording_close(rec);
	assert_int_equal(fcntl((int)i, F_GETFD), -1);
	left = toolbox_run(dir, "ls");
	assert_string_equal(left, "");
	free(left);
	toolbox_remove(dir);
	vt_reader_close(reread_stream(fd, w));
	close(fd);
}

/* Says that process 600 has made a ring, and what is told of it. */
static void expect_no_ring(struct recordings *s, const char *warning)
{
	const struct vt_ring_message m = {.type = VT_RING_HELLO, .pid = 600, .ppid = 40};
	struct vt_error err = VT_ERROR_INIT;

	s->warnings.size = 0;
	assert_int_equal(write(s->ring.control, &m, sizeof(m)), sizeof(m));
	assert_int_equal(vt_recording_read(s->rec, &err), 1);
	assert_string_equal(vt_buf_str(&s->warnings), warning);
}

#define NO_RING "GAP TIME=0 PID=600 TID=600 BYTES=0 REASON=ring.600.0: "

static void test_no_ring(void **state)
{
	static const off_t sizes[] = {0, sizeof(struct vt_ring) - 1, VT_RING_MAX_SIZE + 1};
	const struct vt_recording_options opt = {0};
	struct vt_recording_summary sum;
	struct recordings s;
	const char *path;
	size_t i;

	(void)state;
	recordings_open(&s, &opt);
	path = toolbox_path(s.dir, "ring.600.0");
	for (i = 0; i < 3; i++) {
		toolbox_write(s.dir, "ring.600.0", "");
		assert_int_equal(truncate(path, sizes[i]), 0);
		expect_no_ring(&s, "process 600: ring.600.0: no ring of that size\n");
	}
	assert_int_equal(truncate(path, sizeof(struct vt_ring)), 0);
	expect_no_ring(&s, "process 600: ring.600.0: bad header\n");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_no_ring(&s, "process 600: ring.600.0: no ring of that size\n");
	assert_int_equal(vt_recording_running(s.rec, 0), PID);
	assert_int_equal(vt_recording_running(s.rec, 1), 0);
	rings_end(&s.ring);
	sum = recordings_close(&s, NO_RING "no ring of that size\n" NO_RING
					   "no ring of that size\n" NO_RING
					   "no ring of that size\n" NO_RING "bad header\n" NO_RING
					   "no ring of that size\n");
	assert_int_equal(sum.gaps, 5);
}

/*
 * Three executions of two instructions each; instructions 3 to 5 are wanted, so from the middle of
 * the second block to the middle of the third.  What the kernel does is told inside the window
 * only, but for a signal that ends the process.
 */
static void test_window(void **state)
{
	const struct vt_recording_options opt = {.skip = 3, .count = 2};
	const struct vt_ring_signal end = {.ip = 1, .number = 9};
	struct vt_recording_summary sum;
	struct recordings s;

	(void)state;
	recordings_open(&s, &opt);
	rings_start(&s.ring, 40, 0, "p");
	rings_block(&s.ring, 1, 2, slots, 2);
	rings_run(&s.ring, 1, "\x11\x12\x13", 3);
	put_rest(&s.ring);
	rings_run(&s.ring, 1, "\x21\x22\x23", 3);
	put_rest(&s.ring);
	rings_run(&s.ring, 1, "\x31\x32\x33", 3);
	put_rest(&s.ring);
	rings_event(&s.ring, VT_RING_SIGNAL, PID, &end, sizeof(end), NULL, 0);
	rings_end(&s.ring);
	sum = recordings_close(
		&s, "THREAD TIME=1000 PID=500 TID=500 OP=1 PPID=40 PTID=500 COMM=70\n"
		    "BLOCK ID=1 PID=500 ADDR=4096 SIZE=2 INSNS=2 END=0 TARGET=0 LENGTHS=0101 "
		    "CODE=9090 SLOTS=200010000,100010001\n"
		    "STATE PID=500 TID=500 FIRST=0 REASON=1 MXCSR=0 REGS*0 VECTOR\n"
		    "EXEC TIME=1000 PID=500 TID=500 FIRST=0 BLOCKS=1 INSNS=1 SKIP=1 BASE=1 "
		    "WIDTH=2 IDS=0000 DATA=23\n"
		    "SIGNAL PID=500 TID=500 FIRST=1 NUMBER=13 IP=11 HANDLER=12\n"
		    "SYSCALL PID=500 TID=500 FIRST=1 NUMBER=15 RESULT=-14 ARGS=1,2,3,4,5,6\n"
		    "MEMORY PID=500 TID=500 FIRST=1 ADDR=16 DATA=616263\n"
		    "EXEC TIME=1000 PID=500 TID=500 FIRST=1 BLOCKS=1 INSNS=1 SKIP=0 BASE=1 "
		    "WIDTH=2 IDS=0000 DATA=3132\n"
		    "SIGNAL PID=500 TID=500 FIRST=2 NUMBER=9 IP=1 HANDLER=0\n");
	assert_int_equal(sum.insns, 2);
	assert_int_equal(sum.data, 3);
}

/* Events that say what cannot be, each alone: a gap, and a warning. */
static void test_impossible(void **state)
{
	const struct vt_recording_options opt = {0};
	static const struct vt_ring_block bad_end = {
		.id = 1, .size = 1, .ninsns = 1, .end = VT_NENDS};
	static const struct vt_ring_block too_long = {.id = 1, .size = 4000, .ninsns = 1};
	static const struct vt_ring_block many_slots = {
		.id = 1, .size = 1, .ninsns = 1, .nslots = VT_MAX_BLOCK_SLOTS + 1};
	static const struct vt_ring_start start = {0};
	static const struct vt_ring_map bad_map = {.name_length = 100};
	static const struct vt_ring_registers bad_state = {.reason = VT_NSTATES};
	static const struct vt_ring_fork bad_fork = {.child = 0};
	static const struct vt_ring_exec bad_exec = {.name_length = 100};
	static const struct vt_ring_lost bad_lost = {.text_length = 100};
	static const struct vt_ring_memory bad_memory = {.length = 100};
	static const struct vt_ring_number none = {0}, many = {VT_MAX_BLOCK_INSNS + 1};
	static const struct {
		unsigned type;
		const void *head;
		size_t size;
		const char *why;
	} events[] = {
		{VT_RING_BLOCK, &bad_end, sizeof(bad_end), "a bad basic block"},
		{VT_RING_BLOCK, &too_long, sizeof(too_long), "a bad basic block"},
		{VT_RING_BLOCK, &many_slots, sizeof(many_slots), "a bad basic block"},
		{VT_RING_MAP, &bad_map, sizeof(bad_map), "a bad mapping"},
		{VT_RING_STATE, &bad_state, sizeof(bad_state), "a bad state"},
		{VT_RING_FORK, &bad_fork, sizeof(bad_fork), "a bad fork"},
		{VT_RING_EXEC, &bad_exec, sizeof(bad_exec), "a bad exec"},
		{VT_RING_LOST, &bad_lost, sizeof(bad_lost), "a bad note of what is left out"},
		{VT_RING_MEMORY, &bad_memory, sizeof(bad_memory), "bad memory"},
		{VT_RING_PARTIAL, &none, sizeof(none), "a bad part of a block"},
		{VT_RING_PARTIAL, &many, sizeof(many), "a bad part of a block"},
		{VT_RING_PARTIAL, NULL, 0, "a bad part of a block"},
		{VT_RING_START, &start, sizeof(start), "a second start"},
		{VT_RING_START, NULL, 0, "a bad start"},
		{VT_RING_BLOCK, NULL, 0, "a bad basic block"},
		{VT_RING_MAP, NULL, 0, "a bad mapping"},
		{VT_RING_SIGNAL, NULL, 0, "a bad signal"},
		{VT_RING_SYSCALL, NULL, 0, "a bad system call"},
		{VT_RING_MEMORY, NULL, 0, "bad memory"},
		{VT_RING_STATE, NULL, 0, "a bad state"},
		{VT_RING_FORK, NULL, 0, "a bad fork"},
		{VT_RING_EXEC, NULL, 0, "a bad exec"},
		{VT_RING_LOST, NULL, 0, "a bad note of what is left out"},
		{VT_RING_THREAD, NULL, 0, "an event that is cut"},
		{VT_RING_EXIT, NULL, 0, "an event that is cut"},
		{VT_RING_TOGGLE, NULL, 0, "an event that is cut"},
		{0, NULL, 0, "an event of unknown type"},
		{VT_RING_HEAP, NULL, 0, "a bad allocation"},
		{VT_RING_HEAP + 1, NULL, 0, "an event of unknown type"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct vt_recording_summary sum;
		char want[300], warning[100];
		struct recordings s;

		recordings_open(&s, &opt);
		rings_start(&s.ring, 40, 0, "p");
		rings_event(&s.ring, events[i].type, PID, events[i].head, events[i].size, NULL, 0);
		rings_end(&s.ring);
		snprintf(warning, sizeof(warning), "process 500: %s\n", events[i].why);
		assert_string_equal(vt_buf_str(&s.warnings), warning);
		snprintf(want, sizeof(want),
			 START "GAP TIME=1000 PID=500 TID=500 BYTES=0 REASON=%s\n", events[i].why);
		sum = recordings_close(&s, want);
		assert_int_equal(sum.gaps, 1);
	}
}

#define BLOCK                                                                                      \
	"BLOCK ID=1 PID=500 ADDR=4096 SIZE=2 INSNS=2 END=0 TARGET=0 LENGTHS=0101 CODE=9090 "       \
	"SLOTS\n"
#define EXECUTED(n, insns)                                                                         \
	"EXEC TIME=1000 PID=500 TID=500 FIRST=0 BLOCKS=" n " INSNS=" insns                         \
	" SKIP=0 BASE=1 WIDTH=2 IDS="
#define NEXT "THREAD TIME=1000 PID=500 TID=500 OP=1 PPID=40 PTID=500 COMM=6e657874\n"

static void put_exec(struct rings *r, uint32_t recorded)
{
	const struct vt_ring_exec x = {recorded, 9};

	rings_event(r, VT_RING_EXEC, PID, &x, sizeof(x), "/bin/next", 9);
}

/* Another program that makes no ring is told of, unless it was not begun after all. */
static void test_exec(void **state)
{
	const struct vt_recording_options opt = {0};
	const struct vt_ring_syscall failed = {.result = -2, .number = 59};
	static const char *const want[] = {
		START BLOCK NEXT, START BLOCK,
		START BLOCK
		"SYSCALL PID=500 TID=500 FIRST=0 NUMBER=59 RESULT=-2 ARGS=0,0,0,0,0,0\n",
		START BLOCK EXECUTED("1", "2") "0000 DATA\n"};
	static const uint64_t unfollowed[] = {1, 0, 0, 0};
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct vt_recording_summary sum;
		struct recordings s;

		recordings_open(&s, &opt);
		rings_start(&s.ring, 40, 0, "p");
		rings_block(&s.ring, 1, 2, NULL, 0);
		put_exec(&s.ring, i == 1);
		if (i == 2)
			rings_event(&s.ring, VT_RING_SYSCALL, PID, &failed, sizeof(failed), NULL,
				    0);
		if (i == 3)
			rings_run(&s.ring, 1, NULL, 0);
		rings_end(&s.ring);
		sum = recordings_close(&s, want[i]);
		assert_int_equal(sum.unfollowed, unfollowed[i]);
	}
}

/* A run is one record, as long as it may be; messages of others than those there are change
 * nothing.
 */
static void test_long_run(void **state)
{
	const struct vt_recording_options opt = {0};
	struct vt_ring_message m = {.type = VT_RING_BYE, .pid = PID, .seq = 1};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_recording_summary sum;
	struct recordings s;
	char *files;
	int i;

	(void)state;
	recordings_open(&s, &opt);
	rings_start(&s.ring, 40, 0, "p");
	rings_block(&s.ring, 1, 2, NULL, 0);
	for (i = 0; i < 1000; i++)
		rings_run(&s.ring, 1, NULL, 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(write(s.ring.control, &m, sizeof(m)), sizeof(m));
		assert_int_equal(vt_recording_read(s.rec, &err), 1);
		assert_int_equal(vt_recording_running(s.rec, 0), PID);
		m.pid = PID + 1;
	}
	rings_end(&s.ring);
	assert_int_equal(vt_recording_running(s.rec, 0), 0);
	/* The process's file is gone. */
	files = toolbox_run(s.dir, "ls");
	assert_string_equal(files, "control\nshared\n");
	free(files);
	sum = recordings_close(
		&s, START BLOCK EXECUTED("1000",
					 "2000") "00000000000000000000000000000000..2000 DATA\n");
	assert_int_equal(sum.blocks, 1000);
	assert_int_equal(sum.insns, 2000);
}

/* ---- registers where a window begins ---- */

#define RAN(tid, first, insns, skip)                                                               \
	"EXEC TIME=1000 PID=500 TID=" tid " FIRST=" first " BLOCKS=1 INSNS=" insns " SKIP=" skip   \
	" BASE=1 WIDTH=2 IDS=0000 DATA\n"
#define REGISTERS(tid, first)                                                                      \
	"STATE PID=500 TID=" tid " FIRST=" first " REASON=1 MXCSR=9 REGS*24 "                      \
	"VECTOR=07070707070707070707070707070707..512\n"
#define NO_REGISTERS(tid, first)                                                                   \
	"STATE PID=500 TID=" tid " FIRST=" first " REASON=1 MXCSR=0 REGS*0 VECTOR\n"
#define THREAD_502 "THREAD TIME=1000 PID=500 TID=502 OP=2 PPID=500 PTID=500 COMM\n"

/* Each step of a process, whose block has two instructions. */
static void take_step(struct rings *r, char step)
{
	switch (step) {
	case 'b': /* the block */
		rings_run(r, 1, NULL, 0);
		break;
	case 'h': /* half of it */
		rings_run(r, 1, NULL, 0);
		rings_number(r, VT_RING_PARTIAL, r->tid, 1);
		break;
	case 'w': /* here the window begins */
		put_state(r, VT_STATE_WINDOW, 9);
		break;
	case 's': /* a signal's state */
		put_state(r, VT_STATE_SIGNAL, 8);
		break;
	case 'n': /* thread 502 is new */
		rings_number(r, VT_RING_THREAD, 502, PID);
		break;
	case '0':
	case '2': /* thread 500 or 502 runs */
		r->tid = PID + step - '0';
		rings_event(r, VT_RING_SWITCH, r->tid, NULL, 0, NULL, 0);
		break;
	default: /* it enters or leaves the function of --toggle */
		rings_number(r, VT_RING_TOGGLE, r->tid, step == '(' ? 2 : 0);
	}
}

/* They are told if they are those of the first instruction that is recorded, of that thread. */
static void test_window_registers(void **state)
{
	static const struct {
		const char *steps;
		uint64_t skip;
		bool toggle;
		const char *want;
	} rows[] = {
		{"bsswb", 3, false, REGISTERS("500", "0") RAN("500", "0", "1", "1")},
		{"swbb", 3, false, NO_REGISTERS("500", "0") RAN("500", "0", "1", "1")},
		{"bw2b", 3, false, NO_REGISTERS("502", "0") RAN("502", "0", "1", "1")},
		{"bw2b0b", 3, false,
		 NO_REGISTERS("502", "0") RAN("502", "0", "1", "1") NO_REGISTERS("500", "1")
			 RAN("500", "1", "2", "0")},
		{"bwhb", 3, false, NO_REGISTERS("500", "0") RAN("500", "0", "2", "0")},
		{"bwhh", 3, false, NO_REGISTERS("500", "0") RAN("500", "0", "1", "0")},
		{"bwbb", 2, false,
		 REGISTERS("500", "0") "EXEC TIME=1000 PID=500 TID=500 FIRST=0 BLOCKS=2 INSNS=4 "
				       "SKIP=0 BASE=1 WIDTH=2 "
				       "IDS=00000000 DATA\n"},
		{"bwb", 1, false,
		 NO_REGISTERS("500", "0") RAN("500", "0", "1", "1") RAN("500", "1", "2", "0")},
		{"wb", 0, false, RAN("500", "0", "2", "0")},
		{"b(wb)b(b", 0, true,
		 REGISTERS("500", "0") RAN("500", "0", "2", "0") NO_REGISTERS("500", "2")
			 RAN("500", "2", "2", "0")},
		{"(wb", 1, true, NO_REGISTERS("500", "0") RAN("500", "0", "1", "1")},
		{"n2(bnb(b", 0, true,
		 THREAD_502 RAN("502", "0", "2", "0") THREAD_502 NO_REGISTERS("502", "2")
			 RAN("502", "2", "2", "0")},
		{"(2b0b", 0, true, RAN("500", "0", "2", "0")},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct vt_recording_options opt = {.skip = rows[i].skip,
							 .toggle = rows[i].toggle};
		char want[1500];
		struct recordings s;

		recordings_open(&s, &opt);
		rings_start(&s.ring, 40, 0, "p");
		rings_block(&s.ring, 1, 2, NULL, 0);
		for (k = 0; rows[i].steps[k]; k++)
			take_step(&s.ring, rows[i].steps[k]);
		rings_end(&s.ring);
		snprintf(want, sizeof(want), "%s%s", START BLOCK, rows[i].want);
		recordings_close(&s, want);
	}
}

/* ---- what is read of an event ---- */

/* The last event, to be changed. */
static struct vt_ring_event *last_event(struct rings *r)
{
	const struct vt_ring_buffer *b = &r->ring->buffers[r->ring->current];
	uint8_t *at = (uint8_t *)r->ring + b->events_offset + b->events;

	return (struct vt_ring_event *)(void *)(at - sizeof(struct vt_ring_event));
}

/*
 * A block of 3 bytes of values is executed, an event told, the block executed again, and an event
 * told that says how far that was: after 8 bytes of ids and 6 of values.
 */
static void test_event_headers(void **state)
{
	static const char bad[] = "process 500: a bad event\n",
			  values[] = "process 500: values that do not fit the blocks\n";
	static const struct {
		uint32_t size, ids, data, more; /* bytes after it */
		uint64_t blocks;		/* that are recorded */
		const char *want;
	} rows[] = {
		{24, 8, 6, 0, 2, ""},
		{24, 4, 3, 0, 2, ""},
		{24, 6, 6, 0, 1, bad},
		{24, 0, 6, 0, 1, bad},
		{24, 12, 6, 0, 1, bad},
		{24, 4, 2, 0, 1, bad},
		{24, 8, RINGS_DATA + 1, 0, 1, bad},
		{24, 8, 5, 0, 1, values},
		{24, 4, 6, 0, 1, values},
		{16, 8, 6, 0, 1, bad},
		{32, 8, 6, 0, 1, bad},
		{32, 8, 6, 8, 2, ""},
		{24, 8, 6, 8, 2, bad},
		{28, 8, 6, 4, 1, bad},
		{0, 8, 6, 0, 1, bad},
	};
	const struct vt_recording_options opt = {0};
	size_t i, dead;

	(void)state;
	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vt_recording_summary sum;
		struct vt_ring_event *e;
		struct recordings s;

		dead = i % 2;
		recordings_open(&s, &opt);
		rings_start(&s.ring, 40, 0, "p");
		rings_block(&s.ring, 1, 2, slots, 2);
		rings_run(&s.ring, 1, "123", 3);
		rings_event(&s.ring, VT_RING_UNMAP, PID, NULL, 0, NULL, 0);
		rings_run(&s.ring, 1, "456", 3);
		rings_event(&s.ring, VT_RING_UNMAP, PID, NULL, 0, NULL, 0);
		e = last_event(&s.ring);
		e->size = rows[i / 2].size;
		e->ids = rows[i / 2].ids;
		e->data = rows[i / 2].data;
		s.ring.ring->buffers[0].events += rows[i / 2].more;
		if (dead) {
			rings_drop(&s.ring);
			assert_int_equal(vt_recording_dead(s.rec, PID, &err), 0);
		} else {
			rings_end(&s.ring);
			assert_string_equal(vt_buf_str(&s.warnings), rows[i / 2].want);
		}
		sum = *vt_recording_summary(s.rec);
		assert_int_equal(sum.blocks, rows[i / 2].blocks);
		/* The last events of a process that was killed may be cut. */
		assert_int_equal(sum.gaps, *rows[i / 2].want && !(dead && rows[i / 2].want == bad));
		vt_recording_close(s.rec);
		vt_writer_abandon(s.w);
		close(s.fd);
		toolbox_remove(s.dir);
		vt_buf_free(&s.warnings);
	}
}

/* Names of files have 4096 bytes at most. */
static void test_long_names(void **state)
{
	static const char text[4097] = {'/', 'p', 0};
	const struct vt_recording_options opt = {0};
	uint32_t size;
	int type;

	(void)state;
	for (type = 0; type < 8; type++) {
		struct vt_recording_summary sum;
		struct recordings s;

		size = type % 2 ? 4097 : 4096;
		recordings_open(&s, &opt);
		if (type / 2 == 0) {
			const struct vt_ring_start start = {.name_length = size};

			rings_event(&s.ring, VT_RING_START, PID, &start, sizeof(start), text, size);
		} else if (type / 2 == 1) {
			const struct vt_ring_map map = {.name_length = size};

			rings_event(&s.ring, VT_RING_MAP, PID, &map, sizeof(map), text, size);
		} else if (type / 2 == 2) {
			const struct vt_ring_exec exec = {.name_length = size};

			rings_event(&s.ring, VT_RING_EXEC, PID, &exec, sizeof(exec), text, size);
		} else {
			const struct vt_ring_lost lost = {.text_length = size};

			rings_event(&s.ring, VT_RING_LOST, PID, &lost, sizeof(lost), text, size);
		}
		rings_end(&s.ring);
		sum = *vt_recording_summary(s.rec);
		assert_int_equal(sum.gaps, type % 2);
		assert_int_equal(sum.processes, type == 0);
		assert_int_equal(sum.unfollowed, type == 4);
		assert_int_equal(sum.left_out, type == 6);
		vt_recording_close(s.rec);
		vt_writer_abandon(s.w);
		close(s.fd);
		toolbox_remove(s.dir);
		vt_buf_free(&s.warnings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test(test_no_ring),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_long_run),
		cmocka_unit_test(test_window_registers),
		cmocka_unit_test(test_event_headers),
		cmocka_unit_test(test_long_names),

	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
