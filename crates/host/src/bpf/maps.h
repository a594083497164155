/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What do the classifiers keep? */
#pragma once

#include "intf.h"

/* Most interfaces on which programs run: devices into the domain, and the far side of a shim for each. */
#define MOST_INTERFACES 1024

/* By interface index: of a device that leads into the domain, or of its shim's far side. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOST_INTERFACES);
	__type(key, __u32);
	__type(value, struct config);
} CONFIG SEC(".maps");

/* Most prefixes and destinations with a lease. */
#define MOST_PEERS 16384

/* Who takes INT out again, by destination. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MOST_PEERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix);
	__type(value, struct lease);
} PEERS SEC(".maps");

/* When the agent was last told of a destination without a lease. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct prefix);
	__type(value, __u64);
} ASKED SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRAFFICS);
	__type(key, __u32);
	__type(value, __u64);
} TRAFFIC SEC(".maps");

static __always_inline void count_traffic(__u32 which, __u64 amount)
{
	__u64 *counter = bpf_map_lookup_elem(&TRAFFIC, &which);

	if (counter)
		*counter += amount;
}

static __always_inline struct config *configuration(const struct __sk_buff *skb)
{
	__u32 interface = skb->ifindex;

	return bpf_map_lookup_elem(&CONFIG, &interface);
}
