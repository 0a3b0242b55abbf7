/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/procedures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "image/internal.h"
#include "image/symbols.h"

/* Linux Standard Base, Core, 10.6.2, and the encodings of its 10.5.1 that binutils and lld write.
 */
#define VERSION	     1
#define PCREL_SIGNED 0x1b /* the pointer to .eh_frame: 4 bytes, relative to itself */
#define COUNT_U4     0x03
#define DATAREL_S4   0x3b /* the table: 4 bytes each, relative to the section */
#define HEADER_SIZE  12
#define ENTRY_SIZE   8

int64_t vt_procedure_starts(const struct vt_elf *e, uint64_t **starts, struct vt_error *err)
{
	Elf_Data *data = NULL;
	GElf_Shdr shdr;
	const uint8_t *p;
	uint64_t count, i;

	*starts = NULL;
	if (!vti_elf_section(e, ".eh_frame_hdr", &shdr, &data) || data->d_size < HEADER_SIZE)
		return 0;
	p = data->d_buf;
	if (p[0] != VERSION || p[1] != PCREL_SIGNED || p[2] != COUNT_U4 || p[3] != DATAREL_S4)
		return 0;
	count = vt_le32(p + 8);
	if (count > (data->d_size - HEADER_SIZE) / ENTRY_SIZE)
		count = (data->d_size - HEADER_SIZE) / ENTRY_SIZE;
	if (!count)
		return 0;
	*starts = malloc(count * sizeof(**starts));
	if (!*starts)
		return vt_error_nomem(err);
	for (i = 0; i < count; i++)
		(*starts)[i] =
			shdr.sh_addr + (uint64_t)(int32_t)vt_le32(p + HEADER_SIZE + i * ENTRY_SIZE);
	return (int64_t)count;
}

int vt_symbols_add_frames(struct vt_symbols *t, const struct vt_elf *elf, struct vt_error *err)
{
	uint64_t *starts;
	int64_t i, n = vt_procedure_starts(elf, &starts, err);
	char name[32];
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		snprintf(name, sizeof(name), "sub_%" PRIx64, starts[i]);
		rc = vt_symbols_add(t, starts[i], 0, VT_SYMBOL_FRAME, name, err);
	}
	free(starts);
	return n < 0 ? (int)n : rc;
}
