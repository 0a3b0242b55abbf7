/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tools/common/procmaps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream/kinds.h"
#include "tests/unit/common/mappings.h"

/* The id of a file's image, which is added unless it is there; 0 with *err. */
static uint32_t image_of_path(struct vt_images *images, struct vt_addrspace *as, const char *path,
			      struct vt_error *err)
{
	size_t i, n = vt_images_count(images);

	for (i = 1; i <= n; i++)
		if (strcmp(vt_images_get(images, (uint32_t)i)->path, path) == 0)
			return (uint32_t)i;
	if (vt_images_add(images, (uint32_t)i, VT_IMAGE_FILE, path, strlen(path), NULL, 0, err) <
		    0 ||
	    vt_addrspace_image(as, (uint32_t)i, VT_IMAGE_FILE, err) < 0)
		return 0;
	return (uint32_t)i;
}

static uint32_t parse_prot(const char *letters)
{
	return (letters[0] == 'r' ? 1u : 0) | (letters[1] == 'w' ? 2u : 0) |
	       (letters[2] == 'x' ? 4u : 0);
}

bool procmaps_read(struct vt_images *images, struct vt_addrspace *as, pid_t pid, bool code_only,
		   struct vt_error *err)
{
	char path[64], line[4200], name[4096], letters[5];
	uint64_t first, end, offset;
	bool ok = true;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (ok && fgets(line, sizeof(line), f)) {
		uint32_t prot, image;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4095s", &first,
			   &end, letters, &offset, name) != 5 ||
		    name[0] != '/')
			continue;
		prot = parse_prot(letters);
		if (code_only && !(prot & 4))
			continue;
		image = image_of_path(images, as, name, err);
		ok = image &&
		     map_pages(as, (int32_t)pid, first, end - first, offset, image, prot, err) == 0;
	}
	fclose(f);
	return ok;
}
