/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>

/* More columns than any terminal has. */
#define MOST_COLUMNS 100000

unsigned app_terminal_columns(int fd)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = {0};
	unsigned long columns = 0;
	char *end;

	if (text && *text >= '0' && *text <= '9')
		columns = strtoul(text, &end, 10);
	if (columns && !*end)
		return columns < MOST_COLUMNS ? (unsigned)columns : MOST_COLUMNS;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
