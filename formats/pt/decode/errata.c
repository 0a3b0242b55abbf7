/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/pt/decode/walk.h"
#include "stream/kinds.h"

/*
 * Which processors have which errata, as libipt 2.0.5 has it; Intel's specification updates.  BDM70
 * is taken for everybody's (engine.h).
 */
struct model {
	uint8_t model; /* of family 6 */
	unsigned errata;
};

#define BROADWELL (VTI_PT_BDM70 | VTI_PT_BDM64)
#define SKYLAKE	  (VTI_PT_BDM70 | VTI_PT_SKD007 | VTI_PT_SKD022 | VTI_PT_SKD010)
#define LATER	  (VTI_PT_BDM70 | VTI_PT_SKD022)
#define SERVER	  (LATER | VTI_PT_SKZ84)
#define APOLLO	  (VTI_PT_APL11 | VTI_PT_APL12)
#define ATOM	  VTI_PT_APL11
#define HYBRID	  (LATER | ATOM)

static const struct model models[] = {
	{0x3d, BROADWELL}, {0x47, BROADWELL}, {0x4f, BROADWELL}, {0x56, BROADWELL}, {0x4e, SKYLAKE},
	{0x5e, SKYLAKE},   {0x8e, SKYLAKE},   {0x9e, SKYLAKE},	 {0xa5, SKYLAKE},   {0xa6, SKYLAKE},
	{0x55, SERVER},	   {0x66, LATER},     {0x6a, SERVER},	 {0x6c, SERVER},    {0x7d, LATER},
	{0x7e, LATER},	   {0x8c, LATER},     {0x8d, LATER},	 {0x8f, SERVER},    {0xa7, LATER},
	{0xa8, LATER},	   {0x7a, ATOM},      {0x86, ATOM},	 {0x96, ATOM},	    {0x9c, ATOM},
	{0x97, HYBRID},	   {0x9a, HYBRID},    {0xbf, HYBRID},	 {0x5c, APOLLO},    {0x5f, APOLLO},
};

unsigned vti_pt_errata(const struct vt_pt_options *opt)
{
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (opt->family == 6 && models[i].model == opt->model)
			return models[i].errata | VTI_PT_BDM70;
	}
	return VTI_PT_BDM70;
}

/* "GenuineIntel,6,142,10": vendor, family, model, stepping. */
void vt_pt_options_meta(struct vt_pt_options *opt, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned n[4] = {0};
	size_t at, field = 0;

	if (key.size != 5 || memcmp(key.data, "cpuid", 5) || value.size < 13 ||
	    memcmp(value.data, "GenuineIntel,", 13))
		return;
	for (at = 13; at < value.size && field < 3; at++) {
		if (value.data[at] == ',')
			field++;
		else if (value.data[at] >= '0' && value.data[at] <= '9' && n[field] < 65536)
			n[field] = n[field] * 10 + (value.data[at] - '0');
	}
	opt->family = (uint16_t)n[0];
	opt->model = (uint8_t)n[1];
	opt->stepping = (uint8_t)n[2];
}

bool vti_pt_hides_overflow(unsigned errata, const uint8_t *p, const uint8_t *end,
			   const struct vt_pt_packet *cyc)
{
	return errata & VTI_PT_SKD007 && cyc->kind == VT_PT_CYC && cyc->size == 2 &&
	       (cyc->payload & 0xffe0) == 0x20 && p + 2 < end && p[2] == 0xf3;
}
