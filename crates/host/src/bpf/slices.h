/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The packets of a flow that get INT, and the order of a flow's packets. */
#pragma once

#include "flow.h"
#include "maps.h"

/* Maximum number of flows; an evicted flow begins anew. */
#define MAX_SLICED_FLOWS 65536
/*
 * How long packets continue to follow one with INT after it has left the shim,
 * nanoseconds: it is on its last steps to the device's queue, maybe on another processor.
 */
#define SETTLE_NS 20000LL
/* How long a packet is assumed to be in the shim, nanoseconds; one that was lost there never leaves it. */
#define MAX_INSIDE_NS 100000000LL

/*
 * Maximum number of a flow's packets in the shim for INT: they wait in
 * the processor's backlog, which drops packets beyond 1,000 by default.
 */
#define MAX_INSIDE 128

/* An outgoing flow. Times are of the monotonic clock, nanoseconds. */
struct sliced_flow {
	/* When INT was last started in it; 0: never. */
	__u64 started;
	/* When a packet last entered the shim for INT or to be split. */
	__u64 entered;
	/* When a packet with INT last left it. */
	__u64 left;
	/* The number of packets in the shim. */
	__s32 inside;
	/* Whether the next datagram that leaves the shim gets INT: one of those sent in one call. */
	__u32 is_due;
	/* The number of packets that have left with INT. */
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

/* The state of a flow; null: the table is full. */
static __always_inline struct sliced_flow *sliced_flow(const struct flow *flow)
{
	struct sliced_flow *sliced = bpf_map_lookup_elem(&SLICED_FLOWS, flow), none = {};

	if (sliced)
		return sliced;
	bpf_map_update_elem(&SLICED_FLOWS, flow, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&SLICED_FLOWS, flow);
}

/* How long ago `time` was, nanoseconds; negative: another processor has just written it, later than `now`. */
static __always_inline __s64 age(__u64 time, __u64 now)
{
	return now - time;
}

/* Whether the flow's next packet begins a slice; every packet does where all are to have INT. */
static __always_inline int begins_slice(const struct sliced_flow *sliced, const struct config *config, __u64 now)
{
	__u64 interval = config->interval_us * 1000ULL;

	return !config->slices || !sliced->started || age(sliced->started, now) >= (__s64)interval;
}

/* Whether the shim holds the maximum number of the flow's packets. */
static __always_inline int is_full(const struct sliced_flow *sliced, __u64 now)
{
	return sliced->inside >= MAX_INSIDE && age(sliced->entered, now) < MAX_INSIDE_NS;
}

/* Whether a packet that bypasses the shim might overtake one of its flow. */
static __always_inline int would_overtake(const struct sliced_flow *sliced, __u64 now)
{
	if (sliced->inside > 0 && age(sliced->entered, now) < MAX_INSIDE_NS)
		return 1;
	return age(sliced->left, now) < SETTLE_NS;
}

/* Records that a packet enters the shim for INT, which makes `packets` of it. */
static __always_inline void enter_shim(struct sliced_flow *sliced, __u32 packets, __u64 now)
{
	/* Packets that did not leave in time are lost. */
	if (sliced->inside && age(sliced->entered, now) >= MAX_INSIDE_NS)
		sliced->inside = 0;
	sliced->entered = now;
	__sync_fetch_and_add(&sliced->inside, packets);
}

/* Records that a packet follows others into the shim. Those that are lost there are waited for no longer. */
static __always_inline void follow_into_shim(struct sliced_flow *sliced)
{
	__sync_fetch_and_add(&sliced->inside, 1);
}

/*
 * Records that a packet leaves the shim; returns whether it gets INT. Of the datagrams of one call the
 * first does: a receiver that merges datagrams of equal length could not find INT in each of them.
 */
static __always_inline int leave_shim(struct sliced_flow *sliced, __u32 protocol, const struct config *config,
				      int follows, __u64 now)
{
	if (!sliced)
		return !follows;
	/* One that was taken for lost is not counted. */
	if (sliced->inside > 0)
		__sync_fetch_and_add(&sliced->inside, -1);
	if (follows)
		return 0;
	sliced->left = now;
	if (!config->slices || protocol != IPPROTO_UDP)
		return 1;
	return __sync_lock_test_and_set(&sliced->is_due, 0);
}
