/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/toolbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"

char *toolbox_dir(void)
{
	char template[] = "/tmp/vt-test-XXXXXX";
	char *dir = mkdtemp(template);

	assert_non_null(dir);
	dir = strdup(dir);
	assert_non_null(dir);
	return dir;
}

void toolbox_remove(char *dir)
{
	free(toolbox_run("/", "rm -rf '%s'", dir));
	free(dir);
}

char *toolbox_enter(const char *dir)
{
	char *here = getcwd(NULL, 0);

	assert_non_null(here);
	assert_int_equal(chdir(dir), 0);
	return here;
}

void toolbox_leave(char *here)
{
	assert_int_equal(chdir(here), 0);
	free(here);
}

uint8_t *toolbox_read_self(size_t *size)
{
	FILE *f = fopen("/proc/self/exe", "rb");
	uint8_t *data = NULL;
	size_t cap = 0, n;

	assert_non_null(f);
	*size = 0;
	do {
		assert_true(vt_array_grow(&data, &cap, *size + 65536, 1));
		n = fread(data + *size, 1, 65536, f);
		*size += n;
	} while (n > 0);
	fclose(f);
	return data;
}

char *toolbox_run(const char *dir, const char *fmt, ...)
{
	struct vt_buf out = VT_BUF_INIT;
	char command[4096], full[4352];
	va_list ap;
	FILE *f;
	size_t n;
	int status;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	snprintf(full, sizeof(full), "cd '%s' && export LC_ALL=C && { %s ; }", dir, command);
	fflush(NULL);
	f = popen(full, "r");
	assert_non_null(f);
	do {
		uint8_t *p = vt_buf_reserve(&out, 65536);

		assert_non_null(p);
		n = fread(p, 1, 65536, f);
		out.size += n;
	} while (n);
	status = pclose(f);
	if (status != 0)
		fail_msg("%s: status %d", command, status);
	vt_buf_str(&out);
	return (char *)out.data;
}

void toolbox_write(const char *dir, const char *name, const char *text)
{
	FILE *f = fopen(toolbox_path(dir, name), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

char *toolbox_assemble(const char *text)
{
	char *dir = toolbox_dir();

	toolbox_write(dir, "p.s", text);
	free(toolbox_run(dir, "gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 "
			      "-Wl,--section-start=.rodata=0x402000 -Wl,--build-id=none "
			      "-o p p.s"));
	return dir;
}

const char *toolbox_path(const char *dir, const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *p = paths[next++ % 8];

	snprintf(p, sizeof(paths[0]), "%s/%s", dir, name);
	return p;
}
