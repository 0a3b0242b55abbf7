/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_truth all|code PROGRAM [ARG...]: starts the program with an open pipe as its standard
 * input, waits until it sleeps there, and compares every byte of its images that the library calls
 * known with the process's memory.  With `code`, the library is told of executable mappings only.
 * Prints "text N relro N code N wrong N": known bytes of segments, of those only known with relro,
 * bytes of code, and how many of all these differ.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/addrspace.h"
#include "image/procdata.h"
#include "tests/tools/common/procmaps.h"

struct truth {
	struct vt_images *images;
	struct vt_addrspace *as;
	pid_t pid;
	int mem;
	uint64_t text;
	uint64_t relro;
	uint64_t code;
	uint64_t wrong;
};

static struct vt_error err;

static void fail(const char *what)
{
	fprintf(stderr, "image_truth: %s: %s\n", what, err.code ? err.text : strerror(errno));
	exit(2);
}

static pid_t start(char **argv)
{
	int in[2];
	pid_t pid;

	if (pipe(in) != 0)
		fail("pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(in[0], 0);
		dup2(null, 1);
		close(in[0]);
		close(in[1]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	return pid;
}

/* Whether the process waits in a read(), as /proc tells it: the number of the call is 0. */
static bool is_reading(pid_t pid)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/syscall", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return strncmp(text, "0 0x0 ", 6) == 0;
}

static void wait_until_reading(pid_t pid)
{
	const struct timespec pause = {0, 10000000};
	unsigned i;

	for (i = 0; i < 12000; i++) {
		if (is_reading(pid))
			return;
		nanosleep(&pause, NULL);
	}
	errno = ETIMEDOUT;
	fail("waiting for the program");
}

static void compare(struct truth *t, uint64_t address, uint64_t known, const uint8_t *bytes,
		    const uint8_t *really, uint64_t *count)
{
	unsigned i;

	for (i = 0; i < VT_IMAGEDATA_LINE; i++) {
		if (!(known >> i & 1))
			continue;
		++*count;
		if (bytes[i] == really[i])
			continue;
		if (!t->wrong++)
			fprintf(stderr, "image_truth: first wrong byte: 0x%" PRIx64 "\n",
				address + i);
	}
}

static void check_code(struct truth *t, uint64_t vaddr, const struct vt_imagedata *d,
		       const uint8_t *really)
{
	uint8_t bytes[VT_IMAGEDATA_LINE];
	size_t n = vt_imagedata_code(d, vaddr, bytes, sizeof(bytes));

	t->code += n;
	if (memcmp(bytes, really, n) != 0)
		t->wrong++;
}

static void check_line(struct truth *t, uint64_t address, const struct vt_imagedata *d,
		       uint64_t bias)
{
	uint8_t plain[VT_IMAGEDATA_LINE], bytes[VT_IMAGEDATA_LINE], really[VT_IMAGEDATA_LINE];
	uint64_t text, all;

	text = vt_procdata_line(t->images, t->as, (int32_t)t->pid, address, false, plain);
	all = vt_procdata_line(t->images, t->as, (int32_t)t->pid, address, true, bytes);
	if (pread(t->mem, really, sizeof(really), (off_t)address) != (ssize_t)sizeof(really)) {
		/* What is not even mapped cannot be known. */
		t->wrong += all != 0;
		return;
	}
	compare(t, address, text, plain, really, &t->text);
	compare(t, address, all & ~text, bytes, really, &t->relro);
	check_code(t, address - bias, d, really);
}

/* All of the image's span, wherever code of it is mapped. */
static void check_image(struct truth *t, uint32_t id, uint64_t bias)
{
	const struct vt_imagedata *d = vt_images_data(t->images, id);
	uint64_t first, end, vaddr;

	vt_imagedata_span(d, &first, &end);
	for (vaddr = first; vaddr < end; vaddr += VT_IMAGEDATA_LINE)
		check_line(t, vaddr + bias, d, bias);
}

static void check_all(struct truth *t)
{
	const struct vt_map *below, *map;
	uint64_t at = 0, bias, last = 1;
	uint32_t id;

	for (;;) {
		vt_addrspace_around(t->as, (int32_t)t->pid, at, &below, &map);
		if (!map)
			return;
		at = map->start;
		if (!(map->prot & 4) ||
		    !vt_procdata_find(t->images, t->as, (int32_t)t->pid, at, &id, &bias))
			continue;
		if (bias != last || id == 1)
			check_image(t, id, bias);
		last = bias;
	}
}

int main(int argc, char **argv)
{
	const struct vt_images_options o = {.warn = NULL};
	struct truth t = {.text = 0};
	char path[64];

	if (argc < 3)
		return 2;
	t.images = vt_images_new(&o, &err);
	t.as = vt_addrspace_new();
	if (!t.images || !t.as)
		fail("start");
	t.pid = start(argv + 2);
	wait_until_reading(t.pid);
	if (!procmaps_read(t.images, t.as, t.pid, strcmp(argv[1], "code") == 0, &err))
		fail("its mappings");
	snprintf(path, sizeof(path), "/proc/%ld/mem", (long)t.pid);
	t.mem = open(path, O_RDONLY);
	if (t.mem < 0)
		fail(path);
	check_all(&t);
	printf("text %" PRIu64 " relro %" PRIu64 " code %" PRIu64 " wrong %" PRIu64 "\n", t.text,
	       t.relro, t.code, t.wrong);
	kill(t.pid, SIGKILL);
	waitpid(t.pid, NULL, 0);
	close(t.mem);
	vt_addrspace_free(t.as);
	vt_images_free(t.images);
	return t.wrong ? 1 : 0;
}
