/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/irop.h"

#include <stddef.h>

#include "machine/lift/irop_lanes.h"

const struct vti_irop *vti_irop_find(unsigned irop)
{
	const struct vti_irop *op = vti_irop_scalar(irop);

	if (op == NULL)
		op = vti_irop_vector(irop);
	if (op == NULL)
		op = vti_irop_shuffle(irop);
	if (op == NULL)
		op = vti_irop_float(irop);
	if (op == NULL)
		op = vti_irop_convert(irop);
	return op;
}

const struct vti_irop *vti_irop_find_x87(unsigned irop)
{
	const struct vti_irop *op = vti_irop_float_x87(irop);

	if (op == NULL)
		op = vti_irop_convert_x87(irop);
	return op == NULL ? vti_irop_find(irop) : op;
}
