/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/loads.h"

#include <linux/perf_event.h>

#include "formats/perfdata/abi.h"

/* perf's order of the fields: ip, tid, time, addr, cpu, period, weight, data source. */
#define LOAD_TYPE                                                                                  \
	(PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR | PD_SAMPLE_CPU |          \
	 PD_SAMPLE_PERIOD | PD_SAMPLE_WEIGHT | PD_SAMPLE_DATA_SRC)

#define EXACT_IP 3 /* of precise_ip */

int loads_open(struct loads *l, struct vt_error *err)
{
	*l = (struct loads){.payload = VT_BUF_INIT};
	return levels_measure(&l->levels, err);
}

void loads_close(struct loads *l)
{
	vt_buf_free(&l->payload);
}

struct vt_perfdata_event loads_event(void)
{
	return (struct vt_perfdata_event){
		.name = "loads:u",
		.type = PD_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.period = 1,
		.sample_type = LOAD_TYPE,
		.flags = PD_ATTR_INHERIT | PD_ATTR_EXCLUDE_KERNEL |
			 (uint64_t)EXACT_IP << PD_ATTR_PRECISE_SHIFT,
	};
}

int loads_put(struct loads *l, struct vt_perfdata_writer *w, const struct agent_load *r,
	      unsigned event, struct vt_error *err)
{
	const struct vt_perfdata_stamp stamp = {.time = r->head.time};
	uint32_t ticks = levels_net(&l->levels, r->ticks);
	struct vt_buf *b = &l->payload;

	l->count++;
	b->size = 0;
	vt_buf_put_le64(b, event + 1);
	vt_buf_put_le64(b, r->head.ip);
	vt_buf_put_le32(b, r->head.pid);
	vt_buf_put_le32(b, r->head.tid);
	vt_buf_put_le64(b, r->head.time);
	vt_buf_put_le64(b, r->addr);
	vt_buf_put_le64(b, r->head.cpu);
	vt_buf_put_le64(b, 1);
	vt_buf_put_le64(b, ticks);
	vt_buf_put_le64(b, levels_source(&l->levels, ticks));
	if (b->failed)
		return vt_error_nomem(err);
	return vt_perfdata_put_record(w, PD_SAMPLE, PD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
				      &stamp, b->data, b->size, err);
}
