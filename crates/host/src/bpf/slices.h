/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which packets of a flow get INT, and that they do not overtake each other. */
#pragma once

#include "flow.h"
#include "maps.h"

/* Most flows that are kept apart; one that is forgotten begins anew. */
#define MAX_SLICED_FLOWS 65536
/*
 * How long packets go on following one with INT after it has left the shim, nanoseconds: it is on its last steps to the
 * device's queue, maybe on another processor.
 */
#define SETTLE_NS 20000ULL
/* How long a packet is believed to be in the shim, nanoseconds; one that got lost there never leaves it. */
#define MAX_INSIDE_NS 100000000ULL

/*
 * How many packets of a flow are in the shim at most for INT: they stand in the processor's backlog, which drops what is
 * beyond 1,000 by default.
 */
#define MAX_INSIDE 128

/* A flow on its way out. Times are of the monotonic clock, nanoseconds. */
struct sliced_flow {
	/* When INT was last started in it; 0: never. */
	__u64 started;
	/* When a packet last entered the shim. */
	__u64 entered;
	/* When a packet with INT last left it. */
	__u64 left;
	/* How many packets are in the shim. */
	__s32 inside;
	/* Whether the next datagram that leaves the shim gets INT: one of those that were sent in one call. */
	__u32 is_due;
	/* How many packets have left with INT. */
	__u64 with_int;
};

/* `abi.rs` asserts the same size. */
_Static_assert(sizeof(struct sliced_flow) == 40, "size of struct sliced_flow");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_SLICED_FLOWS);
	__type(key, struct flow);
	__type(value, struct sliced_flow);
} SLICED_FLOWS SEC(".maps");

/* What is known of a flow; null: there is no room. */
static __always_inline struct sliced_flow *sliced_flow(const struct flow *flow)
{
	struct sliced_flow *sliced = bpf_map_lookup_elem(&SLICED_FLOWS, flow), none = {};

	if (sliced)
		return sliced;
	bpf_map_update_elem(&SLICED_FLOWS, flow, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&SLICED_FLOWS, flow);
}

/* Whether the flow's next packet begins a slice: all of them where every packet is to have INT. */
static __always_inline int begins_slice(const struct sliced_flow *sliced, const struct config *config, __u64 now)
{
	__u64 interval = config->interval_us * 1000ULL;

	return !config->slices || !sliced->started || now - sliced->started >= interval;
}

/* Whether there are as many packets of the flow in the shim as may be. */
static __always_inline int is_full(const struct sliced_flow *sliced, __u64 now)
{
	return sliced->inside >= MAX_INSIDE && now - sliced->entered < MAX_INSIDE_NS;
}

/* Whether a packet that goes straight to the queue might overtake one of its flow. */
static __always_inline int would_overtake(const struct sliced_flow *sliced, __u64 now)
{
	if (sliced->inside > 0 && now - sliced->entered < MAX_INSIDE_NS)
		return 1;
	return now - sliced->left < SETTLE_NS;
}

/* Takes down that a packet enters the shim, which makes `packets` of it. */
static __always_inline void enter_shim(struct sliced_flow *sliced, __u32 packets, __u64 now)
{
	/* What did not leave in time is lost. */
	if (sliced->inside && now - sliced->entered >= MAX_INSIDE_NS)
		sliced->inside = 0;
	sliced->entered = now;
	__sync_fetch_and_add(&sliced->inside, packets);
}

/*
 * Takes down that a packet leaves the shim; returns whether it gets INT. Of the datagrams of one call the first does: a
 * receiver that merges datagrams of equal length again could not find INT in each of them.
 */
static __always_inline int leave_shim(struct sliced_flow *sliced, __u32 protocol, const struct config *config,
				      int follows, __u64 now)
{
	if (!sliced)
		return !follows;
	__sync_fetch_and_add(&sliced->inside, -1);
	if (follows)
		return 0;
	sliced->left = now;
	if (!config->slices || protocol != IPPROTO_UDP)
		return 1;
	return __sync_lock_test_and_set(&sliced->is_due, 0);
}
