/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "chains/chain.h"
#include "chains/unwound.h"
#include "pack/internal.h"
#include "stream/bblock.h"
#include "stream/kinds.h"

struct vt_chain *vti_pack_new_chain(void)
{
	return malloc(sizeof(struct vt_chain));
}

int vti_pack_hit(struct vt_pack *p, uint32_t image, int32_t pid, uint64_t offset, uint64_t hits,
		 struct vt_error *err)
{
	const struct vti_place key = {.image = image, .pid = pid, .offset = offset};
	struct vti_place *place = vt_hash_add(&p->places, &key, NULL);

	if (!place)
		return vt_error_nomem(err);
	place->hits |= hits;
	return 0;
}

/* Adds the place at an address of a process; `mode` as vt_addrspace_find() has it. */
static int hit_address(struct vt_pack *p, int32_t pid, uint64_t address, uint64_t mode,
		       uint64_t hits, struct vt_error *err)
{
	const struct vt_map *m =
		vt_addrspace_find(vt_context_space(p->context), pid, address, mode);
	struct vti_loose *loose;

	if (m)
		return vti_pack_hit(p, m->image, m->type == VT_IMAGE_ANON ? pid : 0,
				    vt_map_offset(m, address), hits, err);
	loose = vt_hash_add(&p->loose, &address, NULL);
	if (!loose)
		return vt_error_nomem(err);
	loose->hits |= hits;
	return 0;
}

/* ---- samples ---- */

static int hit_branches(struct vt_pack *p, const struct vt_record *sample, unsigned field,
			struct vt_error *err)
{
	int32_t pid = (int32_t)vt_record_i64(sample, VT_SAMPLE_PID);
	struct vt_words words = vt_record_words(sample, field);
	size_t i;
	int code = 0;

	for (i = 0; i < words.count && code == 0; i++)
		code = hit_address(p, pid, words.data[i], 0, VTI_HIT_CODE, err);
	return code;
}

/* A vt_chain_visit_fn. */
static void hit_followed(void *pack, uint64_t address)
{
	struct vt_pack *p = pack;
	struct vt_error err;

	p->nomem |= hit_address(p, p->followed_pid, address, VT_FRAME_USER, VTI_HIT_NAME, &err) < 0;
}

static int hit_sample(struct vt_pack *p, const struct vt_record *sample, struct vt_error *err)
{
	int32_t pid = (int32_t)vt_record_i64(sample, VT_SAMPLE_PID);
	uint64_t id = vt_record_u64(sample, VT_SAMPLE_EVENT);
	const struct vt_event *event = vt_context_event(p->context, id, err);
	size_t i;
	int code = 0;

	if (!event)
		return -VT_E_NOMEM;
	p->stacks |= vt_record_bytes(sample, VT_SAMPLE_STACK).size != 0;
	vt_chain_read(p->chain, sample, event->branch_type);
	p->followed_pid = pid;
	vt_chain_unwind(p->chain, sample, event->regs_user, vt_context_images(p->context),
			vt_context_space(p->context), hit_followed, p);
	if (p->nomem)
		return vt_error_nomem(err);
	for (i = 0; i < p->chain->count && code == 0; i++)
		code = hit_address(p, pid, p->chain->frames[i].address, p->chain->frames[i].mode,
				   i ? VTI_HIT_NAME : VTI_HIT_CODE, err);
	if (code == 0 && vt_record_u64(sample, VT_SAMPLE_HAS) & VT_HAS_ADDR)
		code = hit_address(p, pid, vt_record_u64(sample, VT_SAMPLE_ADDR), 0, VTI_HIT_NAME,
				   err);
	if (code == 0)
		code = hit_branches(p, sample, VT_SAMPLE_BR_FROM, err);
	return code ? code : hit_branches(p, sample, VT_SAMPLE_BR_TO, err);
}

/* ---- executed code and values ---- */

static int hit_block(struct vt_pack *p, const struct vt_record *rec, struct vt_error *err)
{
	int32_t pid = (int32_t)vt_record_i64(rec, VT_BLOCK_PID);
	uint64_t addr = vt_record_u64(rec, VT_BLOCK_ADDR), size = vt_record_u64(rec, VT_BLOCK_SIZE);
	int code = hit_address(p, pid, addr, 0, VTI_HIT_CODE, err);

	return code || size < 2 ? code : hit_address(p, pid, addr + size - 1, 0, VTI_HIT_CODE, err);
}

/* A return address: the call before it belongs to the caller. */
static int hit_caller(struct vt_pack *p, const struct vt_record *rec, unsigned pid_field,
		      unsigned field, struct vt_error *err)
{
	uint64_t address = vt_record_u64(rec, field);
	int32_t pid = (int32_t)vt_record_i64(rec, pid_field);
	int code = address ? hit_address(p, pid, address - 1, 0, VTI_HIT_NAME, err) : 0;

	return code || !address ? code : hit_address(p, pid, address, 0, VTI_HIT_NAME, err);
}

static int hit_value(struct vt_pack *p, const struct vt_record *rec, struct vt_error *err)
{
	int code = hit_address(p, (int32_t)vt_record_i64(rec, VT_VALUE_PID),
			       vt_record_u64(rec, VT_VALUE_IP), 0, VTI_HIT_CODE, err);

	return code ? code : hit_caller(p, rec, VT_VALUE_PID, VT_VALUE_CALLER, err);
}

/* ---- records of places ---- */

static int hit_place(struct vt_pack *p, const struct vt_record *rec, unsigned image,
		     unsigned offset, uint64_t hits, struct vt_error *err)
{
	return vti_pack_hit(p, (uint32_t)vt_record_u64(rec, image), 0, vt_record_u64(rec, offset),
			    hits, err);
}

static int hit_two(struct vt_pack *p, const struct vt_record *rec, const unsigned fields[4],
		   uint64_t second, struct vt_error *err)
{
	int code = hit_place(p, rec, fields[0], fields[1], VTI_HIT_CODE, err);

	return code ? code : hit_place(p, rec, fields[2], fields[3], second, err);
}

/* The calls that allocated an object; names of variables are in the record. */
static int hit_object(struct vt_pack *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_words images = vt_record_words(rec, VT_OBJECT_IMAGES);
	struct vt_words offsets = vt_record_words(rec, VT_OBJECT_OFFSETS);
	uint64_t type = vt_record_u64(rec, VT_OBJECT_TYPE);
	size_t i;
	int code = 0;

	if (type != VT_OBJECT_HEAP && type != VT_OBJECT_MAPPED)
		return 0;
	/* A return address: the call before it is what has a line. */
	for (i = 0; i < images.count && i < offsets.count && code == 0; i++)
		if (offsets.data[i])
			code = vti_pack_hit(p, (uint32_t)images.data[i], 0, offsets.data[i] - 1,
					    VTI_HIT_NAME, err);
	return code;
}

int vti_pack_record(void *pack, const struct vt_record *rec, struct vt_error *err)
{
	static const unsigned conflict[4] = {VT_CONFLICT_IMAGE, VT_CONFLICT_OFFSET,
					     VT_CONFLICT_EARLIER_IMAGE, VT_CONFLICT_EARLIER};
	static const unsigned hot[4] = {VT_HOT_IMAGE, VT_HOT_OFFSET, VT_HOT_CALLER_IMAGE,
					VT_HOT_CALLER};
	static const unsigned edge[4] = {VT_EDGE_IMAGE, VT_EDGE_FROM, VT_EDGE_IMAGE, VT_EDGE_TO};
	struct vt_pack *p = pack;

	switch (rec->kind) {
	case VT_SAMPLE:
		return hit_sample(p, rec, err);
	case VT_BLOCK:
		return hit_block(p, rec, err);
	case VT_EXEC:
		return hit_caller(p, rec, VT_EXEC_PID, VT_EXEC_CALLER, err);
	case VT_VALUE:
		return hit_value(p, rec, err);
	case VT_COUNT:
		return hit_place(p, rec, VT_COUNT_IMAGE, VT_COUNT_OFFSET, VTI_HIT_CODE, err);
	case VT_FREQ:
		return hit_place(p, rec, VT_FREQ_IMAGE, VT_FREQ_OFFSET, VTI_HIT_CODE, err);
	case VT_STALL:
		return hit_place(p, rec, VT_STALL_IMAGE, VT_STALL_OFFSET, VTI_HIT_CODE, err);
	case VT_REGION:
		return hit_place(p, rec, VT_REGION_IMAGE, VT_REGION_OFFSET, VTI_HIT_CODE, err);
	case VT_MISPREDICT:
		return hit_place(p, rec, VT_MISPREDICT_IMAGE, VT_MISPREDICT_OFFSET, VTI_HIT_CODE,
				 err);
	case VT_LOADS:
		return hit_place(p, rec, VT_LOADS_IMAGE, VT_LOADS_OFFSET, VTI_HIT_CODE, err);
	case VT_EVSTAT:
		return hit_place(p, rec, VT_EVSTAT_IMAGE, VT_EVSTAT_OFFSET, VTI_HIT_CODE, err);
	case VT_PAIRSTAT:
		return hit_place(p, rec, VT_PAIRSTAT_IMAGE, VT_PAIRSTAT_OFFSET, VTI_HIT_CODE, err);
	case VT_PATH:
		return hit_place(p, rec, VT_PATH_IMAGE, VT_PATH_OFFSET, VTI_HIT_CODE, err);
	case VT_EDGE:
		return hit_two(p, rec, edge, VTI_HIT_CODE, err);
	case VT_CHAIN:
		return hit_place(p, rec, VT_CHAIN_IMAGE, VT_CHAIN_OFFSET, VTI_HIT_NAME, err);
	case VT_CONFLICT:
		return hit_two(p, rec, conflict, VTI_HIT_CODE, err);
	case VT_OBJECT:
		return hit_object(p, rec, err);
	case VT_HEAP:
		return hit_caller(p, rec, VT_HEAP_PID, VT_HEAP_CALLER, err);
	case VT_HOT:
		return hit_two(p, rec, hot, VTI_HIT_NAME, err);
	default:
		return 0;
	}
}

/* Notes an id that stands for another file from now on. */
int vti_pack_before(void *pack, const struct vt_record *rec, struct vt_error *err)
{
	const struct vt_image *image;
	struct vt_pack *p = pack;
	uint32_t id;

	if (rec->kind != VT_IMAGE)
		return 0;
	id = (uint32_t)vt_record_u64(rec, VT_IMAGE_ID);
	image = vt_images_get(vt_context_images(p->context), id);
	if (!image || vt_bytes_are(vt_record_bytes(rec, VT_IMAGE_PATH), image->path))
		return 0;
	return vt_hash_add(&p->several, &id, NULL) ? 0 : vt_error_nomem(err);
}
