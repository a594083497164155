/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The packets of a flow that get INT. */
#pragma once

#include "flow.h"
#include "maps.h"

/* Maximum number of flows; an evicted flow begins anew. */
#define MAX_SLICED_FLOWS 65536
/* A flow. Times are of the monotonic clock, nanoseconds. */
struct sliced_flow {
	/* When INT was last started in it; 0: never. */
	__u64 started;
	/* When a datagram last entered the shim to be split. */
	__u64 entered;
	/* The number of packets that have left with INT. */
	__u64 with_int;
	/* Until when its packets are between slices and need no other care. */
	__u64 quiet_until;
	/* The lower half of `CHANGES` when the watchlist was last asked about it. */
	__u32 watched_at;
	/* Whether no packet has left the shim since the last entered it. */
	__u32 is_due;
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

/* The length of a slice, nanoseconds. */
static __always_inline __u64 interval_of(const struct config *config)
{
	return config->interval_us * 1000ULL;
}

/* Whether the flow's next packet begins a slice; every packet does where all are to have INT. */
static __always_inline int begins_slice(const struct sliced_flow *sliced, const struct config *config, __u64 now)
{
	return !config->slices || !sliced->started || age(sliced->started, now) >= (__s64)interval_of(config);
}

/*
 * Whether the packet is of a watched flow and between slices: nothing is to be done for it. Most packets
 * of a busy flow are, so this is decided without the watchlist, the proof and the device's queue.
 */
static __always_inline int is_between_slices(const struct packet *packet, const struct config *config)
{
	const struct sliced_flow *sliced;
	struct flow flow;

	/* Postcards have no slices. */
	if (!config->slices || config->mode == MODE_XD || !has_ports(packet->protocol))
		return 0;
	flow_of(packet, &flow);
	sliced = bpf_map_lookup_elem(&SLICED_FLOWS, &flow);
	return sliced && sliced->watched_at == (__u32)changes_so_far() &&
	       age(sliced->quiet_until, bpf_ktime_get_ns()) < 0;
}

/* Lets the flow's packets pass until its next slice, or until its proof is to be renewed, at `renew_at`. */
static __always_inline void keep_quiet(struct sliced_flow *sliced, const struct config *config, __u64 renew_at,
				       __u32 changes)
{
	__u64 next = sliced->started + interval_of(config);

	sliced->quiet_until = next < renew_at ? next : renew_at;
	sliced->watched_at = changes;
}

/*
 * Records that a packet leaves the shim; returns whether it gets INT. Of the datagrams of one call the
 * first does: a receiver that merges datagrams of equal length could not find INT in each of them.
 */
static __always_inline int leave_shim(struct sliced_flow *sliced, __u32 protocol, const struct config *config)
{
	int is_first = !sliced || __sync_lock_test_and_set(&sliced->is_due, 0);

	return is_first || !config->slices || protocol != IPPROTO_UDP;
}
