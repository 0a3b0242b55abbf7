/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_ELF_H
#define VT_IMAGE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * One ELF file, opened for reading.  Three kinds of address occur:
 *
 *   offset  where a byte lies in the file.  An address in a mapping of the file becomes one by
 *           `address - mapping start + mapping's page offset`; this is what perf stores for a
 *           sample and what vt_place carries.
 *   vaddr   the address that the file's symbols, DWARF and program headers use.
 *   address where it was in a process.
 *
 * In a relocatable file (a kernel module) every section claims vaddr 0; there, the vaddr of a
 * byte is its file offset, and offset 0 of a mapping stands for the start of `.text`.
 */
struct vt_elf;

/* Instruction sets that listings know; the values are ELF's e_machine. */
enum vt_machine {
	VT_MACHINE_NONE = 0,
	VT_MACHINE_I386 = 3,
	VT_MACHINE_ARM = 40,
	VT_MACHINE_X86_64 = 62,
	VT_MACHINE_AARCH64 = 183,
};

/* Longest build-id kept; perf keeps 20, some linkers write 32. */
#define VT_BUILDID_MAX 64

struct vt_elf_info {
	const char *path; /* as opened */
	unsigned type;	  /* e_type: 1 REL, 2 EXEC, 3 DYN, 4 CORE */
	unsigned machine; /* e_machine, see enum vt_machine */
	unsigned bits;	  /* 32 or 64 */
	bool big;	  /* big-endian */
	bool has_symtab;
	bool has_dynsym;
	bool has_dwarf; /* has .debug_info or .zdebug_info with content */
	/* The code is elsewhere: made by `objcopy --only-keep-debug`. Offsets mean nothing then. */
	bool only_debug;
	bool cut; /* ends before what its headers name */
	uint64_t entry;
	size_t buildid_size; /* 0: none */
	uint8_t buildid[VT_BUILDID_MAX];
	const char *debuglink; /* .gnu_debuglink's file name, or NULL */
	uint32_t debuglink_crc;
};

/* One stretch of the file that is loaded. */
struct vt_elf_segment {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t filesz; /* all of it lies inside the file */
	uint64_t memsz;
	bool exec;
	bool write;
};

/*
 * Opens a regular file.  Errors: VT_E_READ (cannot be opened), VT_E_FORMAT (not ELF),
 * VT_E_DAMAGED.  Owned by the caller.
 */
struct vt_elf *vt_elf_open(const char *path, struct vt_error *err);

/* Same for bytes in memory, which must be writable, stay until vt_elf_close(), and are not freed
 * by it. */
struct vt_elf *vt_elf_open_memory(void *data, size_t size, const char *name, struct vt_error *err);
void vt_elf_close(struct vt_elf *e);

/* Borrowed until vt_elf_close(). */
const struct vt_elf_info *vt_elf_info(const struct vt_elf *e);
/* The loaded segments in the order of the program headers, *n of them; borrowed likewise. */
const struct vt_elf_segment *vt_elf_segments(const struct vt_elf *e, size_t *n);

/* False when no loaded segment holds the place. */
bool vt_elf_offset_to_vaddr(const struct vt_elf *e, uint64_t offset, uint64_t *vaddr);
bool vt_elf_vaddr_to_offset(const struct vt_elf *e, uint64_t vaddr, uint64_t *offset);

/* The file's bytes from `vaddr` on, up to the end of the segment (`*avail` of them); NULL where
 * nothing is loaded from the file.  Borrowed until vt_elf_close(). */
const uint8_t *vt_elf_bytes(const struct vt_elf *e, uint64_t vaddr, size_t *avail);

/*
 * True where a running program finds what its file or its loader put there, and never anything
 * else: in segments that are not writable, and in what the loader protects once it has relocated it
 * (PT_GNU_RELRO).
 */
bool vt_elf_is_constant(const struct vt_elf *e, uint64_t vaddr);

/* The CRC-32 that .gnu_debuglink records, of the whole file (GDB manual, "Separate Debug
 * Files"). */
uint32_t vt_elf_crc(const struct vt_elf *e);

/* Writes a build-id as lower-case hexadecimal; `out` holds 2 * VT_BUILDID_MAX + 1 bytes. */
void vt_buildid_format(const uint8_t *id, size_t size, char *out);

/*
 * True if both ids mean the same file.  perf up to 5.x stores 20 bytes whatever the size, padding
 * with zeroes, and cuts longer ids; so the shorter must be a prefix of the longer and what is
 * left must be zero, or lie beyond byte 20.
 */
bool vt_buildid_equal(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize);

/* True if one of the ELF notes, as the kernel has them in /sys/kernel/notes, is this build-id. */
bool vt_buildid_in_notes(const void *notes, size_t size, const uint8_t *id, size_t id_size);

#endif
