/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"

#define LIBRARY "libdebuginfod.so.1"
#define PACKAGE "libdebuginfod1"

/* libdebuginfod's, whose header need not be there. */
struct debuginfod_client;
typedef int find_fn(struct debuginfod_client *, const unsigned char *buildid, int size,
		    char **path);

struct library {
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *);
	find_fn *find_executable, *find_debuginfo;
};

/* What no server has. */
struct failure {
	uint8_t buildid[VT_BUILDID_MAX];
	uint32_t size;
	uint32_t kind;
};

struct app_debuginfod {
	pthread_mutex_t mutex;
	const char *program;
	vt_find_warn_fn *warn;
	void *warn_arg;
	struct library library;
	struct debuginfod_client *client;
	bool started; /* or that has failed */
	bool given_up;
	struct vt_hash failures; /* struct failure */
};

struct app_debuginfod *app_debuginfod_new(const char *program, vt_find_warn_fn *warn,
					  void *warn_arg)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct app_debuginfod *d;

	if (!urls || !urls[strspn(urls, " ")])
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	pthread_mutex_init(&d->mutex, NULL);
	d->program = program;
	d->warn = warn;
	d->warn_arg = warn_arg;
	vt_hash_init(&d->failures, sizeof(struct failure), sizeof(struct failure));
	return d;
}

void app_debuginfod_free(struct app_debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->library.end(d->client);
	vt_hash_fini(&d->failures);
	pthread_mutex_destroy(&d->mutex);
	free(d);
}

static void VT_PRINTF(2, 3) warn(struct app_debuginfod *d, const char *fmt, ...)
{
	struct vt_buf b = VT_BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	vt_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	d->warn(d->warn_arg, vt_buf_str(&b));
	vt_buf_free(&b);
}

static bool load_library(struct library *l)
{
	/* It stays loaded: it starts a library that cannot be started again. */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!library)
		return false;
	/* POSIX: a pointer that dlsym() returns can be converted to one of a function. */
	l->begin = (__typeof__(l->begin))dlsym(library, "debuginfod_begin");
	l->end = (__typeof__(l->end))dlsym(library, "debuginfod_end");
	l->find_executable = (find_fn *)dlsym(library, "debuginfod_find_executable");
	l->find_debuginfo = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
	return l->begin && l->end && l->find_executable && l->find_debuginfo;
}

/* Makes the client with the first request. */
static bool start_client(struct app_debuginfod *d)
{
	if (d->started)
		return d->client != NULL;
	d->started = true;
	if (load_library(&d->library))
		d->client = d->library.begin();
	if (!d->client)
		warn(d, "DEBUGINFOD_URLS: nothing is fetched, as " LIBRARY
			" cannot be loaded (Debian's package " PACKAGE ")");
	return d->client != NULL;
}

/* Shows what is waited for, on a terminal; NULL: wipes it. */
static void show_request(const struct app_debuginfod *d, const char *hex, enum vt_find_kind kind)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (hex)
		fprintf(stderr, "\r\033[K%s: fetching the %s of build-id %s", d->program,
			kind == VT_FIND_DEBUG ? "debug information" : "file", hex);
	else
		fputs("\r\033[K", stderr);
	fflush(stderr);
}

/* Asks the servers, or the client's cache.  The path is the caller's. */
static char *request_file(struct app_debuginfod *d, const uint8_t *buildid, size_t size,
			  enum vt_find_kind kind)
{
	find_fn *find =
		kind == VT_FIND_DEBUG ? d->library.find_debuginfo : d->library.find_executable;
	char hex[2 * VT_BUILDID_MAX + 1], *path = NULL;
	int rc;

	vt_buildid_format(buildid, size, hex);
	show_request(d, hex, kind);
	rc = find(d->client, buildid, (int)size, &path);
	show_request(d, NULL, kind);
	if (rc >= 0) {
		close(rc);
		return path;
	}
	/* No server has it, or it is larger than the user wants. */
	if (rc == -ENOENT || rc == -EFBIG)
		return NULL;
	warn(d, "DEBUGINFOD_URLS: build-id %s: %s; nothing more is fetched", hex, strerror(-rc));
	d->given_up = true;
	return NULL;
}

char *app_debuginfod_fetch(void *debuginfod, const uint8_t *buildid, size_t buildid_size,
			   enum vt_find_kind kind)
{
	struct app_debuginfod *d = debuginfod;
	struct failure key = {.size = (uint32_t)buildid_size, .kind = kind};
	char *path = NULL;

	if (!d || !buildid_size || buildid_size > VT_BUILDID_MAX)
		return NULL;
	memcpy(key.buildid, buildid, buildid_size);
	pthread_mutex_lock(&d->mutex);
	if (!d->given_up && !vt_hash_find(&d->failures, &key) && start_client(d)) {
		path = request_file(d, buildid, buildid_size, kind);
		/* Out of memory it is asked for again. */
		if (!path)
			vt_hash_add(&d->failures, &key, NULL);
	}
	pthread_mutex_unlock(&d->mutex);
	return path;
}
