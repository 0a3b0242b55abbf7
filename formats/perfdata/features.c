/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Feature sections: facts about the machine and the recording.  Their layouts are in the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "formats/perfdata/session.h"

#include <inttypes.h>
#include <stdio.h>

#include "tracepoints/container.h"

/* Far more than a machine has; the kernel numbers them in the order of their registration. */
#define PMUS_MAX 65536

struct feature {
	const char *name;
	/* Returns 0 or the negative code of an error in s->err; c->bad: the section is cut. */
	int (*fn)(struct pd_session *s, const struct feature *f, struct vt_cursor *c);
};

/* u32 length, then that many bytes, padded with zeros. */
static const uint8_t *take_string(struct vt_cursor *c, size_t *size)
{
	uint32_t n = vt_cursor_u32(c);
	const uint8_t *p = vt_cursor_take(c, n);

	*size = p ? vti_pd_text(p, n) : 0;
	return p;
}

/* Puts the remaining bytes unchanged. */
static int put_raw_feature(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	vti_pd_meta(s, f->name, NULL, 0, c->p, vt_cursor_left(c));
	c->p = c->end;
	return 0;
}

static void put_meta_u64(struct pd_session *s, const char *key, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	vti_pd_meta_str(s, key, text);
}

static int put_meta_buf(struct pd_session *s, const char *key, struct vt_buf *b)
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

static int put_text_feature(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	size_t size;
	const uint8_t *p = take_string(c, &size);

	put_text_value(s, f, p, size);
	return 0;
}

static int read_arch(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	/* ELF machine numbers, from elf.h. */
	static const struct {
		const char *arch;
		uint32_t machine;
	} machines[] = {{"x86_64", 62}, {"aarch64", 183}, {"arm64", 183},  {"i386", 3},
			{"i486", 3},	{"i586", 3},	  {"i686", 3},	   {"arm", 40},
			{"ppc64", 21},	{"s390x", 22},	  {"riscv64", 243}};
	size_t size, i;
	const uint8_t *p = take_string(c, &size);

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

/* ",FAMILY,MODEL,STEPPING" in decimal; a model that is not told is none with errata. */
static void read_cpu_model(struct pd_session *s, const uint8_t *p, size_t size)
{
	char text[32] = "";
	unsigned family, model;

	memcpy(text, p, size < sizeof(text) - 1 ? size : sizeof(text) - 1);
	if (sscanf(text, ",%u,%u", &family, &model) == 2)
		s->cpu = (struct vt_ibs_cpu){family, model};
}

static int read_cpuid(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	size_t size;
	const uint8_t *p = take_string(c, &size);

	s->amd = p && ((size >= 12 && !memcmp(p, "AuthenticAMD", 12)) ||
		       (size >= 12 && !memcmp(p, "HygonGenuine", 12)));
	s->vendor = s->amd						? VT_CPU_AMD
		    : p && size >= 12 && !memcmp(p, "GenuineIntel", 12) ? VT_CPU_INTEL
									: VT_CPU_UNKNOWN;
	s->cpu = (struct vt_ibs_cpu){0};
	if (s->amd)
		read_cpu_model(s, p + 12, size - 12);
	vti_pd_events_changed(s);
	put_text_value(s, f, p, size);
	return 0;
}

static int read_build_ids(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	bool old = false;
	int code = 0;

	(void)f;
	/* In a table of the first perfs, the kernel's name is where later ones have a pid. */
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

static int put_nrcpus(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t available = vt_cursor_u32(c), online = vt_cursor_u32(c);

	(void)f;
	if (c->bad)
		return 0;
	/* The file has them in this order, whatever the documentation says. */
	put_meta_u64(s, "nrcpus.available", available);
	put_meta_u64(s, "nrcpus.online", online);
	return 0;
}

static int put_total_mem(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint64_t kib = vt_cursor_u64(c);
	char value[40];

	if (c->bad)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64 " kB", kib);
	vti_pd_meta_str(s, f->name, value);
	return 0;
}

/* Arguments are separated by blanks; blanks and backslashes inside an argument get a backslash. */
static int put_cmdline(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	struct vt_buf b = VT_BUF_INIT;
	uint32_t n = vt_cursor_u32(c), i;
	size_t size, j;

	for (i = 0; i < n && !c->bad; i++) {
		const uint8_t *p = take_string(c, &size);

		if (i)
			vt_buf_put_u8(&b, ' ');
		for (j = 0; p && j < size; j++) {
			if (p[j] == ' ' || p[j] == '\\')
				vt_buf_put_u8(&b, '\\');
			vt_buf_put_u8(&b, p[j]);
		}
	}
	return put_meta_buf(s, f->name, &b);
}

static int read_event_desc(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), attr_size = vt_cursor_u32(c), i, nids;
	const uint8_t *name;
	size_t size;
	int code;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		vt_cursor_take(c, attr_size);
		nids = vt_cursor_u32(c);
		name = take_string(c, &size);
		vt_cursor_take(c, (uint64_t)nids * 8);
		if (c->bad)
			break;
		code = vti_pd_event_name(s, i, name, size, true);
		if (code < 0)
			return code;
	}
	return 0;
}

static void put_string_list(struct pd_session *s, const char *key, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i;
	size_t size;

	for (i = 0; i < n && !c->bad; i++) {
		const uint8_t *p = take_string(c, &size);

		if (p)
			vti_pd_meta(s, key, p, size, NULL, 0);
	}
}

static int put_cpu_topology(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	put_string_list(s, "cpu_topology.cores", c);
	put_string_list(s, "cpu_topology.threads", c);
	/* Core and socket of each CPU, and later additions, keep their bytes. */
	return !c->bad && vt_cursor_left(c) ? put_raw_feature(s, f, c) : 0;
}

static int put_numa_nodes(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		uint32_t node = vt_cursor_u32(c);
		uint64_t total = vt_cursor_u64(c), unused = vt_cursor_u64(c);
		size_t size;
		const uint8_t *cpus = take_string(c, &size);
		struct vt_buf b = VT_BUF_INIT;
		int code;

		if (!cpus)
			break;
		vt_buf_printf(&b, "node %" PRIu32 " total %" PRIu64 " kB free %" PRIu64 " kB cpus ",
			      node, total, unused);
		vt_buf_put(&b, cpus, size);
		code = put_meta_buf(s, "numa_topology.node", &b);
		if (code < 0)
			return code;
	}
	return 0;
}

static int read_pmu_mappings(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i, *row;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		uint32_t type = vt_cursor_u32(c);
		size_t size;
		const uint8_t *name = take_string(c, &size);
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

static int put_group_desc(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t n = vt_cursor_u32(c), i;

	(void)f;
	for (i = 0; i < n && !c->bad; i++) {
		size_t size;
		const uint8_t *name = take_string(c, &size);
		uint32_t leader = vt_cursor_u32(c), members = vt_cursor_u32(c);
		struct vt_buf b = VT_BUF_INIT;
		int code;

		if (c->bad)
			break;
		vt_buf_printf(&b, "leader %" PRIu32 " members %" PRIu32 " name ", leader, members);
		vt_buf_put(&b, name, size);
		code = put_meta_buf(s, "group", &b);
		if (code < 0)
			return code;
	}
	return 0;
}

static int put_caches(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint32_t version = vt_cursor_u32(c), n = vt_cursor_u32(c), i, k;

	if (version != 1)
		return put_raw_feature(s, f, c);
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
			const uint8_t *p = take_string(c, &size);

			vt_buf_put_u8(&b, ' ');
			if (p)
				vt_buf_put(&b, p, size);
		}
		if (c->bad) {
			vt_buf_free(&b);
			break;
		}
		code = put_meta_buf(s, f->name, &b);
		if (code < 0)
			return code;
	}
	return 0;
}

static int put_sample_time(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint64_t first = vt_cursor_u64(c), last = vt_cursor_u64(c);

	(void)f;
	if (c->bad)
		return 0;
	put_meta_u64(s, "sample_time.first", first);
	put_meta_u64(s, "sample_time.last", last);
	return 0;
}

static int put_u64_feature(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	uint64_t v = vt_cursor_u64(c);

	if (!c->bad)
		put_meta_u64(s, f->name, v);
	return 0;
}

static int put_compressed(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
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

static int put_pairs(struct pd_session *s, const char *prefix, struct vt_cursor *c, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && !c->bad; i++) {
		size_t nsize, vsize;
		const uint8_t *name = take_string(c, &nsize), *value = take_string(c, &vsize);
		struct vt_buf b = VT_BUF_INIT;
		int code;

		if (c->bad)
			break;
		vt_buf_put(&b, name, nsize);
		vt_buf_put_u8(&b, '=');
		vt_buf_put(&b, value, vsize);
		code = put_meta_buf(s, prefix, &b);
		if (code < 0)
			return code;
	}
	return 0;
}

/* A u32 count, then names and values. */
static int put_counted_pairs(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	return put_pairs(s, f->name, c, vt_cursor_u32(c));
}

static int put_pmu_caps(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
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
			take_string(&names, &size);
		pmu = take_string(&names, &size);
		if (!pmu) {
			c->bad = true;
			break;
		}
		vt_buf_printf(&key, "%s.", f->name);
		vt_buf_put(&key, pmu, size);
		code = put_pairs(s, vt_buf_str(&key), c, ncaps);
		vt_buf_free(&key);
		if (code < 0)
			return code;
		*c = names;
	}
	return 0;
}

/* ---- trace data ---- */

/* A vt_format_file_fn: names the events of the tracepoint whose format file this is. */
static int name_events(void *arg, const struct vt_tracing *t, struct vt_bytes system,
		       struct vt_bytes text)
{
	struct pd_session *s = arg;
	struct vt_buf b = VT_BUF_INIT;
	struct vt_bytes name;
	uint64_t number;
	size_t i;
	int code = 0;

	(void)t;
	if (!vt_format_file_ident(text, &name, &number))
		return 0;
	vt_buf_put(&b, system.data, system.size);
	vt_buf_put_u8(&b, ':');
	vt_buf_put(&b, name.data, name.size);
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

/* True if any event needs a name from here. */
static bool needs_names(const struct pd_session *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		if (s->events[i].attr.type == PD_TYPE_TRACEPOINT && !s->events[i].name)
			return true;
	}
	return false;
}

static int read_tracing(struct pd_session *s, const struct feature *f, struct vt_cursor *c)
{
	int code = 0;

	if (needs_names(s))
		code = vt_tracing_walk(c->p, vt_cursor_left(c), name_events, s);
	return code < 0 ? code : put_raw_feature(s, f, c);
}

static const struct feature features[] = {
	[PD_FEAT_TRACING_DATA] = {"tracing_data", read_tracing},
	[PD_FEAT_BUILD_ID] = {"build_id", read_build_ids},
	[PD_FEAT_HOSTNAME] = {"hostname", put_text_feature},
	[PD_FEAT_OSRELEASE] = {"osrelease", put_text_feature},
	[PD_FEAT_VERSION] = {"perf_version", put_text_feature},
	[PD_FEAT_ARCH] = {"arch", read_arch},
	[PD_FEAT_NRCPUS] = {"nrcpus", put_nrcpus},
	[PD_FEAT_CPUDESC] = {"cpudesc", put_text_feature},
	[PD_FEAT_CPUID] = {"cpuid", read_cpuid},
	[PD_FEAT_TOTAL_MEM] = {"total_mem", put_total_mem},
	[PD_FEAT_CMDLINE] = {"cmdline", put_cmdline},
	[PD_FEAT_EVENT_DESC] = {"event_desc", read_event_desc},
	[PD_FEAT_CPU_TOPOLOGY] = {"cpu_topology", put_cpu_topology},
	[PD_FEAT_NUMA_TOPOLOGY] = {"numa_topology", put_numa_nodes},
	[PD_FEAT_BRANCH_STACK] = {"branch_stack", put_raw_feature},
	[PD_FEAT_PMU_MAPPINGS] = {"pmu_mappings", read_pmu_mappings},
	[PD_FEAT_GROUP_DESC] = {"group_desc", put_group_desc},
	[PD_FEAT_AUXTRACE] = {"auxtrace", put_raw_feature},
	[PD_FEAT_STAT] = {"stat", put_raw_feature},
	[PD_FEAT_CACHE] = {"cache", put_caches},
	[PD_FEAT_SAMPLE_TIME] = {"sample_time", put_sample_time},
	[PD_FEAT_MEM_TOPOLOGY] = {"mem_topology", put_raw_feature},
	[PD_FEAT_CLOCKID] = {"clockid_res_ns", put_u64_feature},
	[PD_FEAT_DIR_FORMAT] = {"dir_format", put_u64_feature},
	[PD_FEAT_BPF_PROG_INFO] = {"bpf_prog_info", put_raw_feature},
	[PD_FEAT_BPF_BTF] = {"bpf_btf", put_raw_feature},
	[PD_FEAT_COMPRESSED] = {"compressed", put_compressed},
	[PD_FEAT_CPU_PMU_CAPS] = {"cpu_pmu_caps", put_counted_pairs},
	[PD_FEAT_CLOCK_DATA] = {"clock_data", put_raw_feature},
	[PD_FEAT_HYBRID_TOPOLOGY] = {"hybrid_topology", put_counted_pairs},
	[PD_FEAT_PMU_CAPS] = {"pmu_caps", put_pmu_caps},
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
