/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What do the classifiers keep? */
#pragma once

#include "intf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct config);
} CONFIG SEC(".maps");

static __always_inline struct config *configuration(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&CONFIG, &zero);
}
