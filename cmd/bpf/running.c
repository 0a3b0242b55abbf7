/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/bpf/running.h"

#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "base/bytes.h"
#include "image/find.h"

/* ---- symbols and notes ---- */

/* Lines are "address type name" and, of a module, its name. */
static void take_symbol(struct running_kernel *k, const char *line)
{
	const struct {
		const char *name;
		uint64_t *addr;
	} wanted[] = {{"_text", &k->text},
		      {"_etext", &k->etext},
		      {"__per_cpu_offset", &k->cpu_offsets},
		      {"bpf_per_cpu_ptr", &k->per_cpu_code},
		      {"bpf_this_cpu_ptr", &k->this_cpu_code}};
	const char *name = strchr(line, ' ');
	size_t i, n;

	if (!name || strlen(name) < 4)
		return;
	name += 3;
	n = strcspn(name, "\t\n");
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (n == strlen(wanted[i].name) && memcmp(name, wanted[i].name, n) == 0)
			*wanted[i].addr = strtoull(line, NULL, 16);
}

#define NOTE_HEAD     12
#define NOTE_BUILD_ID 3

static size_t pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Notes as in elf(5): sizes of name and text, type, name, text. */
static void take_build_id(struct running_kernel *k, const uint8_t *p, size_t size)
{
	size_t name, text, all;

	for (; size >= NOTE_HEAD; p += all, size -= all) {
		name = pad4(vt_le32(p));
		text = vt_le32(p + 4);
		all = NOTE_HEAD + name + pad4(text);
		if (all > size)
			return;
		if (vt_le32(p + 8) == NOTE_BUILD_ID && name == 4 &&
		    memcmp(p + NOTE_HEAD, "GNU", 4) == 0 && text <= RUNNING_ID_MAX) {
			memcpy(k->id, p + NOTE_HEAD + name, text);
			k->id_size = (uint32_t)text;
			return;
		}
	}
}

int running_kernel_look(struct running_kernel *k, struct vt_error *err)
{
	size_t size;
	char *text = vt_find_read("/proc/kallsyms", VT_KALLSYMS_LIMIT, &size, err), *line, *next;

	memset(k, 0, sizeof(*k));
	if (!text)
		return -1;
	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		take_symbol(k, line);
	}
	free(text);
	text = vt_find_read("/sys/kernel/notes", 1 << 20, &size, NULL);
	if (text)
		take_build_id(k, (const uint8_t *)text, size);
	free(text);
	return 0;
}

/* ---- bases of processors ---- */

#define CODE_SIZE 64

static bool read_u64(running_read_fn *read, void *arg, uint64_t addr, uint64_t *value)
{
	uint8_t line[64];

	if (!read(arg, addr, line))
		return false;
	*value = vt_le64(line);
	return true;
}

/* The first access of a function's code to [index * 8 + address], or to GS:[address]. */
static bool find_access(running_read_fn *read, void *arg, uint64_t code, bool gs, uint64_t *addr)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	uint8_t bytes[CODE_SIZE], i;
	ZydisDecoder d;
	size_t at;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!code || !read(arg, code, bytes))
		return false;
	for (at = 0; ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes + at, CODE_SIZE - at, &insn, o));
	     at += insn.length) {
		for (i = 0; i < insn.operand_count_visible; i++) {
			ZyanU64 absolute;

			if (o[i].type != ZYDIS_OPERAND_TYPE_MEMORY ||
			    o[i].mem.type != ZYDIS_MEMOP_TYPE_MEM ||
			    (o[i].mem.segment == ZYDIS_REGISTER_GS) != gs)
				continue;
			if (!gs && o[i].mem.scale == 8 && o[i].mem.base == ZYDIS_REGISTER_NONE) {
				*addr = (uint64_t)o[i].mem.disp.value;
				return true;
			}
			if (gs && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn, &o[i], code + at,
									&absolute))) {
				*addr = absolute;
				return true;
			}
		}
	}
	return false;
}

bool running_kernel_find_offsets(struct running_kernel *k, running_read_fn *read, void *arg)
{
	uint64_t array = k->cpu_offsets, own, base, again;

	k->cpu_offsets = 0;
	if (!array && !find_access(read, arg, k->per_cpu_code, false, &array))
		return false;
	if (!find_access(read, arg, k->this_cpu_code, true, &own) ||
	    !read_u64(read, arg, array, &base) || !read_u64(read, arg, base + own, &again) ||
	    again != base)
		return false;
	k->cpu_offsets = array;
	return true;
}
