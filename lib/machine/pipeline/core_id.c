/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "machine/pipeline/core.h"

/* The family and model numbers of CPUID that a machine stands for. */
struct id {
	const char *vendor;
	unsigned family;
	unsigned first; /* model */
	unsigned last;
	const char *core;
};

/*
 * Intel: SDM volume 4, table 2-1.  AMD: the revision guides of families 17h, 19h and 1Ah.  Cores
 * whose pipeline is the same but for sizes stand together.  Those that have none of their own, as
 * Sandy Bridge, are not taken for another.
 */
static const struct id ids[] = {
	{"GenuineIntel", 6, 0x1c, 0x1c, "inorder"},   {"GenuineIntel", 6, 0x26, 0x27, "inorder"},
	{"GenuineIntel", 6, 0x35, 0x36, "inorder"},   {"GenuineIntel", 6, 0x3a, 0x3a, "ivybridge"},
	{"GenuineIntel", 6, 0x3e, 0x3e, "ivybridge"}, {"GenuineIntel", 6, 0x3c, 0x3c, "haswell"},
	{"GenuineIntel", 6, 0x3f, 0x3f, "haswell"},   {"GenuineIntel", 6, 0x45, 0x46, "haswell"},
	{"GenuineIntel", 6, 0x3d, 0x3d, "broadwell"}, {"GenuineIntel", 6, 0x47, 0x47, "broadwell"},
	{"GenuineIntel", 6, 0x4f, 0x4f, "broadwell"}, {"GenuineIntel", 6, 0x56, 0x56, "broadwell"},
	{"GenuineIntel", 6, 0x4e, 0x4e, "skylake"},   {"GenuineIntel", 6, 0x55, 0x55, "skylake"},
	{"GenuineIntel", 6, 0x5e, 0x5e, "skylake"},   {"GenuineIntel", 6, 0x8e, 0x8e, "skylake"},
	{"GenuineIntel", 6, 0x9e, 0x9e, "skylake"},   {"GenuineIntel", 6, 0xa5, 0xa6, "skylake"},
	{"GenuineIntel", 6, 0x6a, 0x6a, "icelake"},   {"GenuineIntel", 6, 0x6c, 0x6c, "icelake"},
	{"GenuineIntel", 6, 0x7d, 0x7e, "icelake"},   {"GenuineIntel", 6, 0x8c, 0x8d, "icelake"},
	{"GenuineIntel", 6, 0xa7, 0xa7, "icelake"},   {"GenuineIntel", 6, 0x8f, 0x8f, "alderlake"},
	{"GenuineIntel", 6, 0x97, 0x97, "alderlake"}, {"GenuineIntel", 6, 0x9a, 0x9a, "alderlake"},
	{"GenuineIntel", 6, 0xb7, 0xb7, "alderlake"}, {"GenuineIntel", 6, 0xba, 0xba, "alderlake"},
	{"GenuineIntel", 6, 0xbf, 0xbf, "alderlake"}, {"GenuineIntel", 6, 0xcf, 0xcf, "alderlake"},
	{"AuthenticAMD", 0x17, 0x30, 0x9f, "zen2"},   {"AuthenticAMD", 0x19, 0x00, 0x0f, "zen3"},
	{"AuthenticAMD", 0x19, 0x10, 0x1f, "zen4"},   {"AuthenticAMD", 0x19, 0x20, 0x5f, "zen3"},
	{"AuthenticAMD", 0x19, 0x60, 0xaf, "zen4"},   {"AuthenticAMD", 0x1a, 0x00, 0x2f, "zen5"},
	{"AuthenticAMD", 0x1a, 0x40, 0x4f, "zen5"},   {"AuthenticAMD", 0x1a, 0x60, 0x7f, "zen5"},
};

/* The name's own storage, if vtrace brings such a machine along. */
static const char *find_core_name(const char *name)
{
	const char *known;
	size_t i;

	for (i = 0; (known = vt_core_name(i)); i++)
		if (strcmp(known, name) == 0)
			return known;
	return NULL;
}

static const char *for_cpuid(const char *cpuid)
{
	size_t vendor = strcspn(cpuid, ",");
	unsigned long family, model;
	char *end;
	size_t i;

	if (cpuid[vendor] != ',')
		return NULL;
	family = strtoul(cpuid + vendor + 1, &end, 10);
	if (*end != ',')
		return NULL;
	model = strtoul(end + 1, &end, 10);
	if (*end && *end != ',')
		return NULL;
	for (i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (strlen(ids[i].vendor) == vendor && strncmp(cpuid, ids[i].vendor, vendor) == 0 &&
		    family == ids[i].family && model >= ids[i].first && model <= ids[i].last)
			return find_core_name(ids[i].core);
	return NULL;
}

/* Brand texts that tell the core without numbers; the longer ones first. */
static const struct {
	const char *text;
	const char *core;
} brands[] = {
	{"Alpha 21164", "alpha21164"},
	{"Alpha 21264", "alpha21264"},
	{"12th Gen Intel", "alderlake"},
	{"13th Gen Intel", "alderlake"},
	{"11th Gen Intel", "icelake"},
	{"10th Gen Intel", "icelake"},
	{"Sapphire Rapids", "alderlake"},
	{"Icelake", "icelake"},
	{"Ice Lake", "icelake"},
	{"Ivy Bridge", "ivybridge"},
	{"IvyBridge", "ivybridge"},
	{"Haswell", "haswell"},
	{"Broadwell", "broadwell"},
	{"Skylake", "skylake"},
	{"Cascadelake", "skylake"},
	{"Cascade Lake", "skylake"},
	{"EPYC-Rome", "zen2"},
	{"EPYC-Milan", "zen3"},
	{"EPYC-Genoa", "zen4"},
	{"EPYC-Turin", "zen5"},
};

static const char *for_brand(const char *description)
{
	size_t i;

	for (i = 0; i < sizeof(brands) / sizeof(*brands); i++)
		if (strstr(description, brands[i].text))
			return find_core_name(brands[i].core);
	return NULL;
}

const char *vt_core_for_cpu(const char *model, const char *cpuid, const char *description)
{
	const char *name = model ? find_core_name(model) : NULL;

	if (!name && cpuid)
		name = for_cpuid(cpuid);
	if (!name && description)
		name = for_brand(description);
	return name;
}

int vt_cpu_feed(struct vt_cpu *cpu, const struct vt_record *rec, struct vt_error *err)
{
	const struct {
		const char *key;
		char **value;
	} facts[] = {
		{"cpu.model", &cpu->model},	{"cpuid", &cpu->id},
		{"cpudesc", &cpu->description}, {"arch", &cpu->arch},
		{"vfreq.model", &cpu->chosen},
	};
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		struct vt_bytes value;

		if (!vt_record_is_meta(rec, facts[i].key))
			continue;
		value = vt_record_bytes(rec, VT_META_VALUE);
		free(*facts[i].value);
		*facts[i].value = strndup((const char *)value.data, value.size);
		if (!*facts[i].value)
			return vt_error_nomem(err);
	}
	return 0;
}

void vt_cpu_fini(struct vt_cpu *cpu)
{
	free(cpu->model);
	free(cpu->id);
	free(cpu->description);
	free(cpu->arch);
	free(cpu->chosen);
}
