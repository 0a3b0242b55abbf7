/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_ELF_H
#define VT_IMAGE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * An ELF file opened for reading.  There are three kinds of addresses:
 *
 *   offset   the position of a byte in the file: `address - mapping start + mapping's page offset`.
 *            Places in images are offsets.
 *   vaddr    the address in the file's symbols, DWARF and program headers.
 *   address  the address in a process.
 *
 * In a relocatable file (a kernel module), all sections have vaddr 0.  There, the vaddr of a byte
 * is its position in the file, and offsets count from the start of `.text`.
 */
struct vt_elf;

/* Supported instruction sets; the values are ELF's e_machine. */
enum vt_machine {
	VT_MACHINE_NONE = 0,
	VT_MACHINE_I386 = 3,
	VT_MACHINE_ARM = 40,
	VT_MACHINE_X86_64 = 62,
	VT_MACHINE_AARCH64 = 183,
};

/* Maximum bytes of a build-id kept; perf keeps 20, some linkers write 32. */
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
	/* Made by `objcopy --only-keep-debug`: it has no code, and offsets are meaningless. */
	bool only_debug;
	bool cut; /* shorter than its headers say */
	uint64_t entry;
	size_t buildid_size; /* 0: none */
	uint8_t buildid[VT_BUILDID_MAX];
	const char *debuglink; /* .gnu_debuglink's file name, or NULL */
	uint32_t debuglink_crc;
};

/* A loaded segment of the file. */
struct vt_elf_segment {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t filesz; /* entirely inside the file */
	uint64_t memsz;
	bool exec;
	bool write;
};

/*
 * Opens a regular file.  Owned by the caller.  Errors: VT_E_READ (cannot be opened), VT_E_FORMAT
 * (not ELF), VT_E_NOMEM.
 */
struct vt_elf *vt_elf_open(const char *path, struct vt_error *err);

/* Like vt_elf_open(), for bytes in memory.  They must be writable and stay valid until
 * vt_elf_close(), which does not free them. */
struct vt_elf *vt_elf_open_memory(void *data, size_t size, const char *name, struct vt_error *err);

/* A range of positions in a file: [first, end). */
struct vt_file_range {
	uint64_t first;
	uint64_t end;
};

/*
 * Like vt_elf_open_memory(), for a file of which only `n` ranges are known.  They are sorted and
 * apart; all other bytes must be 0.  Functions below return no bytes that are unknown.  `held` is
 * borrowed like the data.
 */
struct vt_elf *vt_elf_open_held(void *data, size_t size, const struct vt_file_range *held, size_t n,
				const char *name, struct vt_error *err);
void vt_elf_close(struct vt_elf *e);

/* Borrowed until vt_elf_close(). */
const struct vt_elf_info *vt_elf_info(const struct vt_elf *e);
/* Returns the *n loaded segments in the order of the program headers; borrowed likewise. */
const struct vt_elf_segment *vt_elf_segments(const struct vt_elf *e, size_t *n);

/* Lets go of the memory that holds code.  What is asked for again comes from the file again. */
void vt_elf_rest(const struct vt_elf *e);

/* Return false if no loaded segment holds the place. */
bool vt_elf_offset_to_vaddr(const struct vt_elf *e, uint64_t offset, uint64_t *vaddr);
bool vt_elf_vaddr_to_offset(const struct vt_elf *e, uint64_t vaddr, uint64_t *offset);

/*
 * Returns the file's bytes from `vaddr` to the end of its segment, *avail of them, or NULL if
 * nothing is loaded from the file there.  Borrowed until vt_elf_close().
 */
const uint8_t *vt_elf_bytes(const struct vt_elf *e, uint64_t vaddr, size_t *avail);

/*
 * Like vt_elf_bytes(), with unknown bytes, which are 0.  vt_elf_holds() tells how many bytes from
 * `vaddr` on are known (at most `size`), or, if the first is unknown, sets *known to false and
 * tells how many are not.
 */
const uint8_t *vt_elf_bytes_or_zero(const struct vt_elf *e, uint64_t vaddr, size_t *avail);
size_t vt_elf_holds(const struct vt_elf *e, uint64_t vaddr, size_t size, bool *known);

/* What else is needed of a file. */
enum vt_elf_needs {
	VT_ELF_FRAMES = 1,	/* call frame information */
	VT_ELF_RELOCATIONS = 2, /* what the dynamic linker writes into data */
};

/*
 * Calls `fn` with each range of the file that is needed to open it and to know its segments, its
 * build-id and its loader's tables; `what` is a set of enum vt_elf_needs.  The ranges are in the
 * file, may overlap, and have no order.
 */
void vt_elf_each_needed(const struct vt_elf *e, unsigned what,
			void (*fn)(void *arg, uint64_t offset, uint64_t size), void *arg);

/* Returns true if an executable segment loads `vaddr` from the file. */
bool vt_elf_is_code(const struct vt_elf *e, uint64_t vaddr);

/*
 * Returns true if only the file and the loader determine the content at `vaddr` while the program
 * runs: in segments that are not writable, and in data that the loader protects after relocation
 * (PT_GNU_RELRO).
 */
bool vt_elf_is_constant(const struct vt_elf *e, uint64_t vaddr);

/*
 * The name of the section in memory that holds `vaddr`, and its bounds; NULL if the file has no
 * such section, with the bounds of the gap.  Borrowed until vt_elf_close().  Untrusted.
 */
const char *vt_elf_section_at(const struct vt_elf *e, uint64_t vaddr, uint64_t *start,
			      uint64_t *end);

/* Returns the bytes of the whole file, *size of them.  Borrowed until vt_elf_close(). */
const uint8_t *vt_elf_file(const struct vt_elf *e, uint64_t *size);

/* Returns the CRC-32 of the whole file, as .gnu_debuglink records it (GDB manual, "Separate Debug
 * Files"). */
uint32_t vt_elf_crc(const struct vt_elf *e);

/* Writes a build-id in lower-case hexadecimal; `out` has 2 * VT_BUILDID_MAX + 1 bytes. */
void vt_buildid_format(const uint8_t *id, size_t size, char *out);

/*
 * Returns true if both build-ids may be the same file's.  perf up to 5.x stores 20 bytes for any
 * size: it truncates longer ids and pads shorter ones with zeros.  So the shorter must be a prefix
 * of the longer, and the rest must be zero or beyond byte 20.
 */
bool vt_buildid_equal(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize);

/* Returns true if one of the ELF notes, in the form of /sys/kernel/notes, is this build-id. */
bool vt_buildid_in_notes(const void *notes, size_t size, const uint8_t *id, size_t id_size);

#endif
