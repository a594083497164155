/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counters, and functions that are verified only once, for all programs. */
#pragma once

#include "intf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OUTCOMES);
	__type(key, __u32);
	__type(value, __u64);
} COUNTERS SEC(".maps");

/*
 * A function that the verifier checks once instead of along every path that leads to it.
 * It assumes nothing about the memory behind pointers, and that each pointer may be null.
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
