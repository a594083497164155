/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rate limits on events of flows, probes and answers: strangers can cause all of them. */
#pragma once

#include "scratch.h"

/* The length of a window, nanoseconds, and the number of events of each kind in it on one processor. */
#define WINDOW_NS 100000000ULL
#define MAX_IN_WINDOW 256U

/* What is limited. */
enum limited {
	LIMIT_NEW_FLOWS,
	LIMIT_RENEWALS,
	LIMIT_PROBES,
	LIMIT_ANSWERS,
	LIMITS,
};

struct window {
	/* The start of the window, of the monotonic clock. */
	__u64 since;
	__u64 count;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LIMITS);
	__type(key, __u32);
	__type(value, struct window);
} WINDOWS SEC(".maps");

/* Whether another event is within the limit. */
static __always_inline int is_within(__u32 limit, __u64 now)
{
	struct window *window = bpf_map_lookup_elem(&WINDOWS, &limit);

	if (!window)
		return 0;
	if (now - window->since >= WINDOW_NS) {
		window->since = now;
		window->count = 0;
	}
	return window->count++ < MAX_IN_WINDOW;
}
