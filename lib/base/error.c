/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const char *const names[VT_NERRCODES] = {
	[VT_OK] = "ok",
	[VT_E_READ] = "read error",
	[VT_E_WRITE] = "write error",
	[VT_E_FORMAT] = "unknown format",
	[VT_E_VERSION] = "unknown version",
	[VT_E_DAMAGED] = "damaged",
	[VT_E_TRUNC] = "truncated",
	[VT_E_LIMIT] = "over a limit",
	[VT_E_NOMEM] = "out of memory",
	[VT_E_NOTFOUND] = "not found",
	[VT_E_MISMATCH] = "mismatch",
	[VT_E_AMBIGUOUS] = "ambiguous",
	[VT_E_USAGE] = "usage",
	[VT_E_SYSTEM] = "system error",
	[VT_E_ABSENT] = "absent",
};

const char *vt_errcode_name(enum vt_errcode code)
{
	if ((unsigned)code >= VT_NERRCODES)
		return "unknown error";
	return names[code];
}

int vt_error_set(struct vt_error *err, enum vt_errcode code, const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -(int)code;
}

int vt_error_nomem(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory");
}

int vt_error_errno(struct vt_error *err, enum vt_errcode code, int errnum, const char *fmt, ...)
{
	char why[128] = "";
	va_list ap;
	size_t n;

	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (strerror_r(errnum, why, sizeof(why)) != 0)
		snprintf(why, sizeof(why), "error %d", errnum);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", why);
	return -(int)code;
}

int vt_error_prefix(struct vt_error *err, const char *fmt, ...)
{
	char old[VT_ERROR_SIZE];
	va_list ap;
	size_t n;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return -(int)err->code;
}
