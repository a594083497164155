/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The maps of the classifiers. */
#pragma once

#include "intf.h"

/* Maximum number of interfaces with programs: devices into the domain, and their shims' far sides. */
#define MAX_INTERFACES 1024

/* By interface index: of a device that leads into the domain, or of its shim's far side. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_INTERFACES);
	__type(key, __u32);
	__type(value, struct config);
} CONFIG SEC(".maps");

/* The number of changes to `CONFIG` and the watchlist; incremented after each change. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} CHANGES SEC(".maps");

/*
 * INT is started until this time, nanoseconds since boot; a hung agent stops moving it. It passes while the
 * host is suspended, too: the agent then first forgets leases that have ended meanwhile.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} HEARTBEAT SEC(".maps");

/* The number of changes so far. */
static __always_inline __u64 changes_so_far(void)
{
	__u32 zero = 0;
	const __u64 *changes = bpf_map_lookup_elem(&CHANGES, &zero);

	return changes ? *changes : 0;
}

/* Whether the agent has run lately. */
static __always_inline int agent_is_alive(void)
{
	__u32 zero = 0;
	const __u64 *until = bpf_map_lookup_elem(&HEARTBEAT, &zero);

	return until && bpf_ktime_get_boot_ns() < *until;
}

/* The number of interfaces whose configuration each processor caches. */
#define COPIES 64

/* The configuration of one interface, and the number of changes that it reflects. */
struct copy {
	__u64 changes;
	__u32 interface;
	struct config config;
};

/* A cache of `CONFIG` without hashing. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COPIES);
	__type(key, __u32);
	__type(value, struct copy);
} CONFIG_COPIES SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRAFFICS);
	__type(key, __u32);
	__type(value, struct volume);
} TRAFFIC SEC(".maps");

static __always_inline void count_traffic(__u32 traffic, __u64 packets, __u64 bytes)
{
	struct volume *volume = bpf_map_lookup_elem(&TRAFFIC, &traffic);

	if (!volume)
		return;
	volume->packets += packets;
	volume->bytes += bytes;
}

/* Copies the configuration of an interface from the agent's map; null: no INT on that interface. */
static __always_inline struct config *copy_config(struct copy *copy, __u32 interface, __u64 changes)
{
	const struct config *config = bpf_map_lookup_elem(&CONFIG, &interface);

	if (!config)
		return 0;
	copy->config = *config;
	copy->changes = changes;
	copy->interface = interface;
	return &copy->config;
}

/* The configuration of the packet's interface; null: no INT. */
static __always_inline struct config *configuration(const struct __sk_buff *skb)
{
	__u32 interface = skb->ifindex, place = interface % COPIES;
	struct copy *copy = bpf_map_lookup_elem(&CONFIG_COPIES, &place);
	__u64 changes = changes_so_far();

	if (!copy)
		return 0;
	if (copy->interface == interface && copy->changes == changes)
		return &copy->config;
	return copy_config(copy, interface, changes);
}
