/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/kinds.h"

static const char *const policies[VT_NPOLICIES] = {
	[VT_POLICY_UNKNOWN] = "unknown", [VT_POLICY_INTERRUPT] = "interrupt",
	[VT_POLICY_PRECISE] = "precise", [VT_POLICY_DISPATCH] = "dispatch",
	[VT_POLICY_MODEL] = "model",	 [VT_POLICY_EXACT] = "exact",
};

static const char *const image_types[VT_NIMAGETYPES] = {
	[VT_IMAGE_FILE] = "file", [VT_IMAGE_KERNEL] = "kernel", [VT_IMAGE_MODULE] = "module",
	[VT_IMAGE_VDSO] = "vdso", [VT_IMAGE_ANON] = "anon",	[VT_IMAGE_BPF] = "bpf",
};

static const char *const thread_ops[VT_NOPS] = {
	[VT_OP_COMM] = "comm",
	[VT_OP_EXEC] = "exec",
	[VT_OP_FORK] = "fork",
	[VT_OP_EXIT] = "exit",
};

const char *vt_policy_name(uint64_t policy)
{
	return policy < VT_NPOLICIES ? policies[policy] : "?";
}

const char *vt_image_type_name(uint64_t type)
{
	return type < VT_NIMAGETYPES ? image_types[type] : "?";
}

const char *vt_thread_op_name(uint64_t op)
{
	return op < VT_NOPS ? thread_ops[op] : "?";
}
