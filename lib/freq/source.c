/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/source.h"

#include <stdlib.h>

void vt_freq_counts_fini(struct vt_freq_counts *c)
{
	free(c->exact);
	free(c->exact_edges);
	free(c->measured);
	free(c->measured_edges);
}
