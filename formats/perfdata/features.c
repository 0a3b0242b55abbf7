/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Feature sections: facts on the machine and the recording.  Their layouts are in the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "formats/perfdata/session.h"

#include <inttypes.h>
#include <stdio.h>

/* Far more than a machine has; the kernel numbers them in the order of their registration. */
#define PMUS_MAX 65536

struct feature {
	const char *name;
	/* Returns 0 or the negative code of an error in s->err; c->bad says that it is cut. */
	int (*fn)(struct pd_session *s, const struct feature *f, struct vt_cursor *c);
};

/* u32 length, then that many bytes, padded with zeros. */
static const uint8_t *string(struct vt_cursor *c, size_t *size)
{
	uint32_t n = vt_cursor_u32(c);
	const uint8_t *p = vt_cursor_take(c, n);

	*size = p ? vti_pd_text(p, n) : 0;
	return p;
}

/* What is left, as it is. */
static int raw(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	vti_pd_meta(s, f->name, NULL, 0, c->p, vt_cursor_left(c));
	c->p = c->end;
	return 0;
}

static void meta_u64(struct pd_session *s, const char *key, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	vti_pd_meta_str(s, key, text);
}

static int put_buf(struct pd_session *s, const char *key, struct vt_buf *b)
{
	int code = 0;

	if (b->failed)
		code = vti_pd_nomem(s);
	else
		vti_pd_meta(s, key, b->data, b->size, NULL, 0);
	vt_buf_free(b);
	return code;
}

static void put_text_value(struct pd_session *s, const struct feature *f, const uint8_t *p,
			   size_t size)
{
	if (p)
		vti_pd_meta(s, f->name, p, size, NULL, 0);
}

static int text(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	size_t size;
	const uint8_t *p = string(c, &size);

	put_text_value(s, f, p, size);
	return 0;
}

static int arch(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	/* ELF machine numbers, from elf.h. */
	static const struct {
		const char *arch;
		uint32_t machine;
	} machines[] = {{"x86_64", 62}, {"aarch64", 183}, {"arm64", 183},  {"i386", 3},
			{"i486", 3},	{"i586", 3},	  {"i686", 3},	   {"arm", 40},
			{"ppc64", 21},	{"s390x", 22},	  {"riscv64", 243}};
	size_t size, i;
	const uint8_t *p = string(c, &size);

	for (i = 0; p && i < sizeof(machines) / sizeof(machines[0]); i++) {
		size_t n = strlen(machines[i].arch);

		/* "arm" also begins armv7l, "ppc64" ppc64le. */
		if (size >= n && !memcmp(p, machines[i].arch, n)) {
			s->machine = machines[i].machine;
			break;
		}
	}
	s->has_arch = true;
	vti_pd_events_changed(s);
	put_text_value(s, f, p, size);
	return 0;
}

static int cpuid(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	size_t size;
	const uint8_t *p = string(c, &size);

	s->amd = p && ((size >= 12 && !memcmp(p, "AuthenticAMD", 12)) ||
		       (size >= 12 && !memcmp(p, "HygonGenuine", 12)));
	vti_pd_events_changed(s);
	put_text_value(s, f, p, size);
	return 0;
}

static int build_ids(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	bool old = false;
	int code = 0;

	(void)f;
	/* A table of the first perfs shows by its kernel's name being cut where a pid would be. */
	if (vt_cursor_left(c) >= 36 + 16 && !memcmp(c->p + 36, "nel.kallsyms]", 13))
		old = true;
	while (code == 0 && vt_cursor_left(c) >= PD_HEADER_SIZE) {
		struct pd_rec r = vti_pd_rec(s, c->p, 0);

		if (r.size < PD_HEADER_SIZE || !vt_cursor_take(c, r.size)) {
			c->bad = true;
			return 0;
		}
		code = vti_pd_buildid_record(s, &r, old);
	}
	return code;
}

static int nrcpus(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t available = vt_cursor_u32(c), online = vt_cursor_u32(c);

	(void)f;
	if (c->bad)
		return 0;
	/* The file has them in this order, whatever the documentation says. */
	meta_u64(s, "nrcpus.available", available);
	meta_u64(s, "nrcpus.online", online);
	return 0;
}

static int total_mem(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint64_t kib = vt_cursor_u64(c);
	char value[40];

	if (c->bad)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64 " kB", kib);
	vti_pd_meta_str(s, f->name, value);
	return 0;
}

/* Arguments are set apart by blanks; blanks and backslashes inside of one get a backslash. */
static int cmdline(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	struct vt_buf b = VT_BUF_INIT;
	uint32_t n = vt_cursor_u32(c), i;
	size_t size, j;

	for (i = 0; i < n && !c->bad; i++) {
		const uint8_t *p = string(c, &size);

		if (i)
			vt_buf_put_u8(&b, ' ');
		for (j = 0; p && j < size; j++) {
			if (p[j] == ' ' || p[j] == '\\')
				vt_buf_put_u8(&b, '\\');
			vt_buf_put_u8(&b, p[j]);
		}
	}
	return put_buf(s, f->name, &b);
}

static int event_desc(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), attr_size = vt_cursor_u32(c), i, nids;
	const uint8_t *name;
	size_t size;
	int code;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		vt_cursor_take(c, attr_size);
		nids = vt_cursor_u32(c);
		name = string(c, &size);
		vt_cursor_take(c, (uint64_t)nids * 8);
		if (c->bad)
			break;
		code = vti_pd_event_name(s, i, name, size, true);
		if (code < 0)
			return code;
	}
	return 0;
}

static void string_list(struct pd_session *s, const char *key, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i;
	size_t size;

	for (i = 0; i < n && !c->bad; i++) {
		const uint8_t *p = string(c, &size);

		if (p)
			vti_pd_meta(s, key, p, size, NULL, 0);
	}
}

static int cpu_topology(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	string_list(s, "cpu_topology.cores", c);
	string_list(s, "cpu_topology.threads", c);
	/* Core and socket of each CPU, and later additions, keep their bytes. */
	return !c->bad && vt_cursor_left(c) ? raw(s, f, c) : 0;
}

static int numa(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		uint32_t node = vt_cursor_u32(c);
		uint64_t total = vt_cursor_u64(c), unused = vt_cursor_u64(c);
		size_t size;
		const uint8_t *cpus = string(c, &size);
		struct vt_buf b = VT_BUF_INIT;
		int code;

		if (!cpus)
			break;
		vt_buf_printf(&b, "node %" PRIu32 " total %" PRIu64 " kB free %" PRIu64 " kB cpus ",
			      node, total, unused);
		vt_buf_put(&b, cpus, size);
		code = put_buf(s, "numa_topology.node", &b);
		if (code < 0)
			return code;
	}
	return 0;
}

static int pmu_mappings(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i, *row;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		uint32_t type = vt_cursor_u32(c);
		size_t size;
		const uint8_t *name = string(c, &size);
		char key[32];

		if (!name)
			break;
		if (s->pmus.count >= PMUS_MAX && !vt_hash_find(&s->pmus, &type))
			continue;
		row = vt_hash_add(&s->pmus, &type, NULL);
		if (row)
			row[1] = vti_pd_string(s, name, size);
		if (!row || row[1] == UINT32_MAX)
			return vti_pd_nomem(s);
		snprintf(key, sizeof(key), "pmu.%" PRIu32, type);
		vti_pd_meta(s, key, name, size, NULL, 0);
	}
	vti_pd_events_changed(s);
	return 0;
}

static int group_desc(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		size_t size;
		const uint8_t *name = string(c, &size);
		uint32_t leader = vt_cursor_u32(c), members = vt_cursor_u32(c);
		struct vt_buf b = VT_BUF_INIT;
		int code;

		if (c->bad)
			break;
		vt_buf_printf(&b, "leader %" PRIu32 " members %" PRIu32 " name ", leader, members);
		vt_buf_put(&b, name, size);
		code = put_buf(s, "group", &b);
		if (code < 0)
			return code;
	}
	return 0;
}

static int cache(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t version = vt_cursor_u32(c), n = vt_cursor_u32(c), i, k;

	if (version != 1)
		return raw(s, f, c);
	for (i = 0; i < n && !c->bad; i++) {
		uint32_t level = vt_cursor_u32(c), line = vt_cursor_u32(c);
		uint32_t sets = vt_cursor_u32(c), ways = vt_cursor_u32(c);
		struct vt_buf b = VT_BUF_INIT;
		int code;

		vt_buf_printf(&b, "L%" PRIu32 " line %" PRIu32 " sets %" PRIu32 " ways %" PRIu32,
			      level, line, sets, ways);
		/* Its type, its size, the CPUs that share it. */
		for (k = 0; k < 3; k++) {
			size_t size;
			const uint8_t *p = string(c, &size);

			vt_buf_put_u8(&b, ' ');
			if (p)
				vt_buf_put(&b, p, size);
		}
		if (c->bad) {
			vt_buf_free(&b);
			break;
		}
		code = put_buf(s, f->name, &b);
		if (code < 0)
			return code;
	}
	return 0;
}

static int sample_time(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint64_t first = vt_cursor_u64(c), last = vt_cursor_u64(c);

	(void)f;
	if (c->bad)
		return 0;
	meta_u64(s, "sample_time.first", first);
	meta_u64(s, "sample_time.last", last);
	return 0;
}

static int one_u64(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint64_t v = vt_cursor_u64(c);

	if (!c->bad)
		meta_u64(s, f->name, v);
	return 0;
}

static int compressed(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t version = vt_cursor_u32(c), type = vt_cursor_u32(c), level = vt_cursor_u32(c);
	uint32_t ratio = vt_cursor_u32(c), length = vt_cursor_u32(c);
	char value[128];

	if (c->bad)
		return 0;
	snprintf(value, sizeof(value),
		 "version %" PRIu32 " type %s level %" PRIu32 " ratio %" PRIu32 " buffer %" PRIu32,
		 version, type == 1 ? "zstd" : "unknown", level, ratio, length);
	vti_pd_meta_str(s, f->name, value);
	return 0;
}

static int pairs(struct pd_session *s, const char *prefix, struct vt_cursor *c, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && !c->bad; i++) {
		size_t nsize, vsize;
		const uint8_t *name = string(c, &nsize), *value = string(c, &vsize);
		struct vt_buf b = VT_BUF_INIT;
		int code;

		if (c->bad)
			break;
		vt_buf_put(&b, name, nsize);
		vt_buf_put_u8(&b, '=');
		vt_buf_put(&b, value, vsize);
		code = put_buf(s, prefix, &b);
		if (code < 0)
			return code;
	}
	return 0;
}

/* A u32 count, then names and values. */
static int counted_pairs(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	return pairs(s, f->name, c, vt_cursor_u32(c));
}

static int pmu_caps(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i, j;

	for (i = 0; i < n && !c->bad; i++) {
		uint32_t ncaps = vt_cursor_u32(c);
		struct vt_cursor names = *c;
		struct vt_buf key = VT_BUF_INIT;
		size_t size;
		const uint8_t *pmu;
		int code;

		/* The PMU's name follows its capabilities. */
		for (j = 0; j < 2 * (uint64_t)ncaps && !names.bad; j++)
			string(&names, &size);
		pmu = string(&names, &size);
		if (!pmu) {
			c->bad = true;
			break;
		}
		vt_buf_printf(&key, "%s.", f->name);
		vt_buf_put(&key, pmu, size);
		code = pairs(s, vt_buf_str(&key), c, ncaps);
		vt_buf_free(&key);
		if (code < 0)
			return code;
		*c = names;
	}
	return 0;
}

/* ---- trace data ---- */

/*
 * What the kernel's tracing directory says of each tracepoint, in the layout that trace-cmd.dat(5)
 * describes up to its fourth part.  Only the tracepoints' names are taken from it.
 */
static const uint8_t *zero_ended(struct vt_cursor *c, size_t *size)
{
	const uint8_t *p = c->p;

	*size = vti_pd_text(p, vt_cursor_left(c));
	vt_cursor_take(c, (uint64_t)*size + 1);
	return p;
}

/* The text after `key` up to the end of its line, or NULL. */
static const char *line_value(const char *p, const char *end, const char *key, size_t *size)
{
	size_t n = strlen(key);

	while ((size_t)(end - p) > n) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			eol = end;
		if ((size_t)(eol - p) > n && !memcmp(p, key, n)) {
			*size = (size_t)(eol - p) - n;
			return p + n;
		}
		p = eol < end ? eol + 1 : end;
	}
	return NULL;
}

/* Names the events of the tracepoint whose format file this is. */
static int format_file(struct pd_session *s, const uint8_t *system, size_t system_size,
		       const uint8_t *file, size_t size)
{
	const char *p = (const char *)file, *end = p + size, *name, *id;
	struct vt_buf b = VT_BUF_INIT;
	size_t name_size, id_size, i;
	uint64_t number = 0;
	int code = 0;

	name = line_value(p, end, "name: ", &name_size);
	id = line_value(p, end, "ID: ", &id_size);
	if (!name || !id)
		return 0;
	for (i = 0; i < id_size && id[i] >= '0' && id[i] <= '9'; i++)
		number = number * 10 + (uint64_t)(id[i] - '0');
	vt_buf_put(&b, system, system_size);
	vt_buf_put_u8(&b, ':');
	vt_buf_put(&b, name, name_size);
	for (i = 0; i < s->nevents && code == 0 && !b.failed; i++) {
		const struct pd_attr *a = &s->events[i].attr;

		if (a->type == PD_TYPE_TRACEPOINT && a->config == number)
			code = vti_pd_event_name(s, i, b.data, b.size, true);
	}
	if (b.failed)
		code = vti_pd_nomem(s);
	vt_buf_free(&b);
	return code;
}

/* Whether any event waits for a name from here. */
static bool wants_names(const struct pd_session *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		if (s->events[i].attr.type == PD_TYPE_TRACEPOINT && !s->events[i].name)
			return true;
	}
	return false;
}

static int name_tracepoints(struct pd_session *s, const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	struct vt_cursor c = vt_cursor_make(data, size, false);
	const uint8_t *p = vt_cursor_take(&c, sizeof(magic));
	const uint8_t *system, *file;
	size_t text_size;
	uint32_t n, nfiles, i, j;
	uint64_t file_size;
	int code;

	if (!p || memcmp(p, magic, sizeof(magic)) || !wants_names(s))
		return 0;
	zero_ended(&c, &text_size); /* version */
	c.big = vt_cursor_u8(&c) == 1;
	vt_cursor_u8(&c);  /* size of a long */
	vt_cursor_u32(&c); /* size of a page */
	for (i = 0; i < 2; i++) {
		zero_ended(&c, &text_size); /* "header_page", "header_event" */
		vt_cursor_take(&c, vt_cursor_u64(&c));
	}
	n = vt_cursor_u32(&c);
	for (i = 0; i < n && !c.bad; i++) /* ftrace's own events */
		vt_cursor_take(&c, vt_cursor_u64(&c));
	n = vt_cursor_u32(&c);
	for (i = 0; i < n && !c.bad; i++) {
		system = zero_ended(&c, &text_size);
		nfiles = vt_cursor_u32(&c);
		for (j = 0; j < nfiles && !c.bad; j++) {
			file_size = vt_cursor_u64(&c);
			file = vt_cursor_take(&c, file_size);
			if (!file)
				break;
			code = format_file(s, system, text_size, file, (size_t)file_size);
			if (code < 0)
				return code;
		}
	}
	return 0;
}

static int tracing(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	int code = name_tracepoints(s, c->p, vt_cursor_left(c));

	return code < 0 ? code : raw(s, f, c);
}

static const struct feature features[] = {
	[PD_FEAT_TRACING_DATA] = {"tracing_data", tracing},
	[PD_FEAT_BUILD_ID] = {"build_id", build_ids},
	[PD_FEAT_HOSTNAME] = {"hostname", text},
	[PD_FEAT_OSRELEASE] = {"osrelease", text},
	[PD_FEAT_VERSION] = {"perf_version", text},
	[PD_FEAT_ARCH] = {"arch", arch},
	[PD_FEAT_NRCPUS] = {"nrcpus", nrcpus},
	[PD_FEAT_CPUDESC] = {"cpudesc", text},
	[PD_FEAT_CPUID] = {"cpuid", cpuid},
	[PD_FEAT_TOTAL_MEM] = {"total_mem", total_mem},
	[PD_FEAT_CMDLINE] = {"cmdline", cmdline},
	[PD_FEAT_EVENT_DESC] = {"event_desc", event_desc},
	[PD_FEAT_CPU_TOPOLOGY] = {"cpu_topology", cpu_topology},
	[PD_FEAT_NUMA_TOPOLOGY] = {"numa_topology", numa},
	[PD_FEAT_BRANCH_STACK] = {"branch_stack", raw},
	[PD_FEAT_PMU_MAPPINGS] = {"pmu_mappings", pmu_mappings},
	[PD_FEAT_GROUP_DESC] = {"group_desc", group_desc},
	[PD_FEAT_AUXTRACE] = {"auxtrace", raw},
	[PD_FEAT_STAT] = {"stat", raw},
	[PD_FEAT_CACHE] = {"cache", cache},
	[PD_FEAT_SAMPLE_TIME] = {"sample_time", sample_time},
	[PD_FEAT_MEM_TOPOLOGY] = {"mem_topology", raw},
	[PD_FEAT_CLOCKID] = {"clockid_res_ns", one_u64},
	[PD_FEAT_DIR_FORMAT] = {"dir_format", one_u64},
	[PD_FEAT_BPF_PROG_INFO] = {"bpf_prog_info", raw},
	[PD_FEAT_BPF_BTF] = {"bpf_btf", raw},
	[PD_FEAT_COMPRESSED] = {"compressed", compressed},
	[PD_FEAT_CPU_PMU_CAPS] = {"cpu_pmu_caps", counted_pairs},
	[PD_FEAT_CLOCK_DATA] = {"clock_data", raw},
	[PD_FEAT_HYBRID_TOPOLOGY] = {"hybrid_topology", counted_pairs},
	[PD_FEAT_PMU_CAPS] = {"pmu_caps", pmu_caps},
};

int vti_pd_feature(struct pd_session *s, unsigned feature, const uint8_t *data, size_t size,
		   uint64_t offset)
{
	struct vt_cursor c = vt_cursor_make(data, size, s->big);
	char key[32];
	int code;

	if (feature >= sizeof(features) / sizeof(features[0]) || !features[feature].name) {
		snprintf(key, sizeof(key), "feature.%u", feature);
		vti_pd_meta(s, key, NULL, 0, data, size);
		return 0;
	}
	code = features[feature].fn(s, &features[feature], &c);
	if (code == 0 && c.bad)
		vti_pd_damage(s, offset, size, "the feature section %s is cut",
			      features[feature].name);
	return code;
}
