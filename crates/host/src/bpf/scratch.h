/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What does every program need? Counters, and functions that are not verified again and again. */
#pragma once

#include "intf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OUTCOMES);
	__type(key, __u32);
	__type(value, __u64);
} COUNTERS SEC(".maps");

/*
 * A function that the verifier looks at once, and not along every way that leads to it. It knows nothing of what is in
 * the memory that pointers lead to, and takes each pointer for one that may be null.
 */
#define VERIFIED_ONCE __attribute__((noinline))

static __always_inline void count_many(__u32 outcome, __u64 packets)
{
	__u64 *counter = bpf_map_lookup_elem(&COUNTERS, &outcome);

	if (counter)
		*counter += packets;
}

static __always_inline void count(__u32 outcome)
{
	count_many(outcome, 1);
}
