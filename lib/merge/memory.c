/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/records.h"
#include "merge/internal.h"

bool vti_feed_memory(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_error bad = VT_ERROR_INIT;
	int code = vt_memrecords_feed(m->own_memory, rec, &bad);

	if (code == -VT_E_FORMAT)
		vti_leave_out(m, bad.text);
	if (vt_memrecords_depend_on_model(m->own_memory))
		vti_has_sums(m, VTI_MEMORIES);
	return code != -VT_E_NOMEM;
}

static bool join_memory_image(void *arg, uint32_t image, uint32_t *index)
{
	return vti_join_image_id(arg, image, index);
}

int vti_join_memory(struct vt_merge *m, struct vt_error *err)
{
	int code;

	m->raised = vt_memrecords_mend(m->own_memory);
	code = vt_memrecords_join(m->memory, m->own_memory, join_memory_image, m, err);

	vt_memrecords_free(m->own_memory);
	m->own_memory = NULL;
	if (code == 0)
		m->own_memory = vt_memrecords_new(err);
	return code < 0 ? code : m->own_memory ? 0 : -VT_E_NOMEM;
}

static bool written_memory_image(void *arg, uint32_t index, uint32_t *id)
{
	*id = vti_written_image_id(arg, index);
	return true;
}

int vti_write_memory(struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	return vt_memrecords_write(m->memory, written_memory_image, m, w, err);
}
