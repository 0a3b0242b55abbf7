/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VTRACE_H
#define VTRACE_H

/* All of libvtrace, which reads and writes vt record streams.  See libvtrace(3). */

#include "base/error.h"
#include "base/version.h"
#include "stream/bblock.h"
#include "stream/channel.h"
#include "stream/exec.h"
#include "stream/header.h"
#include "stream/kinds.h"
#include "stream/meta.h"
#include "stream/profileme.h"
#include "stream/reader.h"
#include "stream/record.h"
#include "stream/schema.h"
#include "stream/units.h"
#include "stream/where.h"
#include "stream/writer.h"

#endif
