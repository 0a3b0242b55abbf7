/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/walk.h"

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
