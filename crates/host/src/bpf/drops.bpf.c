// SPDX-License-Identifier: MIT OR Apache-2.0
// Drops of watched flows in this host's kernel: a program at the tracepoint that every dropped packet
// passes. It counts each flow, reason and device, and sends the agent a sample of the first packet.

#include <stddef.h>

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "dropped.h"
#include "drops.h"

/* Maximum number of counts held at once, of all generations. */
#define MAX_DROPS 16384
/* Maximum number of network namespaces that are watched. */
#define MAX_NAMESPACES 256
/* Maximum number of addresses and prefixes whose INT is believed: sources with a lease, and peers. */
#define MAX_SENDERS (4096 + 32768)
/* Maximum number of devices by which packets leave in which this host has started INT. */
#define MAX_DEVICES 1024

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct drop_settings);
} SETTINGS SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_REASONS);
	__type(key, __u32);
	__type(value, __u32);
} POLICIES SEC(".maps");

/* The network namespaces whose drops are counted, by inode. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_NAMESPACES);
	__type(key, __u32);
	__type(value, __u32);
} NAMESPACES SEC(".maps");

/* Whose INT is believed: that of hosts whose INT the sink removes. Others may write any flow and any node. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MAX_SENDERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix);
	__type(value, __u32);
} SENDERS SEC(".maps");

/* A device in a network namespace: its interface index modulo 16,384. */
struct seat {
	__u32 namespace;
	__u32 device;
};

/* The devices by which packets leave in which this host has started INT. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_DEVICES);
	__type(key, struct seat);
	__type(value, __u32);
} DEVICES SEC(".maps");

/* A table without eviction: what it cannot hold is counted, so nothing is lost silently. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_DROPS);
	__type(key, struct drop_key);
	__type(value, struct drop_count);
} DROPS SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} SAMPLES SEC(".maps");

static __always_inline __u32 policy_of(__u32 reason)
{
	const __u32 *policy = bpf_map_lookup_elem(&POLICIES, &reason);

	return policy ? *policy : 0;
}

static __always_inline const struct drop_settings *settings_of_agent(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&SETTINGS, &zero);
}

/* Counts the drop; returns the outcome, and whether it is the first of its count. */
static __always_inline int hold(const struct drop_key *key, const struct drop_count *once, int *is_first)
{
	struct drop_count *held = bpf_map_lookup_elem(&DROPS, key);

	if (!held) {
		*is_first = !bpf_map_update_elem(&DROPS, key, once, BPF_NOEXIST);
		if (*is_first)
			return DROP_COUNTED;
		/* Another processor was faster, or there is no room. */
		held = bpf_map_lookup_elem(&DROPS, key);
	}
	if (!held)
		return DROP_NOT_HELD;
	__sync_fetch_and_add(&held->packets, once->packets);
	__sync_fetch_and_add(&held->segments, once->segments);
	__sync_fetch_and_add(&held->bytes, once->bytes);
	held->last = once->last;
	return DROP_COUNTED;
}

/* Sends a sample of the packet to the agent. */
static __always_inline void sample(const struct packet *packet, const struct drop_key *key,
				   const struct drop_count *once, __u64 location, __u32 ingress_device)
{
	struct drop_sample *sample = bpf_ringbuf_reserve(&SAMPLES, sizeof(*sample), 0);

	if (!sample) {
		count(DROP_SAMPLE_LOST);
		return;
	}
	sample->time = once->first;
	sample->location = location;
	sample->reason = key->reason;
	sample->device = key->device;
	sample->ingress_device = ingress_device;
	sample->length = packet->end - L3;
	sample->captured = packet->visible - L3;
	sample->ttl_used_up = key->ttl_used_up;
	sample->route_error = key->route_error;
	sample->namespace = key->namespace;
	sample->padding = 0;
	/* The bytes behind `captured` belong to an earlier packet on this processor: not to be read. */
	__builtin_memcpy(sample->bytes, packet->head + L3, SAMPLE_BYTES);
	bpf_ringbuf_submit(sample, 0);
	count(DROP_SAMPLED);
}

/*
 * Whether the packet is a segment without data for a connection that this host has closed. The kernel reports the
 * other side's FIN as a drop without a reason, although it has handled it.
 */
static __always_inline int ends_connection(const struct sock *socket, const struct packet *packet)
{
	return socket && packet->protocol == IPPROTO_TCP && packet->end == packet->behind_l4 &&
	       BPF_CORE_READ(socket, __sk_common.skc_state) == TCP_TIME_WAIT_STATE;
}

/* Whether INT in the packet is this host's own, or of a host whose INT the sink removes. */
static __always_inline int is_believed(const struct packet *packet, const struct place *place)
{
	struct seat leaves_by = { .namespace = place->namespace, .device = place->departed_from };
	struct prefix source, destination;

	if (place->departed_from && bpf_map_lookup_elem(&DEVICES, &leaves_by))
		return 1;
	addresses(packet, &source, &destination);
	return bpf_map_lookup_elem(&SENDERS, &source) != 0;
}

/* Determines the key of the packet; returns the outcome that ends the work, or 0. */
static __always_inline int classify(const struct sk_buff *skb, const struct sock *socket,
				    const struct config *config, struct packet *packet, __u32 policy,
				    const struct place *place, struct flow *flow)
{
	struct location location;
	int is_whole = 0, fault = read_dropped(skb, packet, &is_whole);

	if (fault)
		return fault;
	if (is_whole && (policy & WITHOUT_REASON) && ends_connection(socket, packet))
		return DROP_NOT_LOST;
	clear_ports(packet);
	/* A packet with INT is of a watched flow: a watchlist selected it at its source. */
	if (is_whole && is_marked(packet, config) && find_int(packet, config, &location)) {
		if (location.discard && (policy & BY_CLASSIFIER))
			return DROP_NOT_LOST;
		if (!is_believed(packet, place))
			return DROP_STRANGER;
		flow_before_int(packet, config, &location, flow);
		return 0;
	}
	if (!is_watched(packet))
		return DROP_NOT_WATCHED;
	flow_of(packet, flow);
	return 0;
}

static __always_inline int handle_drop(const __u64 *ctx)
{
	/* The packet, the address of the code that dropped it, and the reason. */
	const struct sk_buff *skb = (const struct sk_buff *)ctx[0];
	__u64 location = ctx[1];
	__u32 reason = ctx[2];
	const struct drop_settings *settings = settings_of_agent();
	__u32 policy = policy_of(reason);
	struct drop_key key = { .reason = reason };
	struct drop_count once = { .packets = 1 };
	struct packet *packet = packet_at_hand();
	struct place place;
	int outcome, is_first = 0;

	if (!settings || !packet || (policy & NOT_LOST))
		return DROP_NOT_LOST;
	read_place(skb, &place);
	if (!place.namespace)
		return DROP_NOWHERE;
	if (!bpf_map_lookup_elem(&NAMESPACES, &place.namespace))
		return DROP_ELSEWHERE;
	outcome = classify(skb, socket_of(ctx), &settings->config, packet, policy, &place, &key.flow);
	if (outcome)
		return outcome;
	key.ttl_used_up = ttl_used_up(packet);
	key.route_error = place.route_error;
	key.device = place.device;
	key.namespace = place.namespace;
	key.generation = settings->generation;
	once.segments = segments_of(skb);
	once.bytes = packet->end - L3;
	once.first = once.last = bpf_ktime_get_ns() + settings->config.clock_offset;
	outcome = hold(&key, &once, &is_first);
	if (is_first)
		sample(packet, &key, &once, location, place.ingress_device);
	return outcome;
}

SEC("raw_tp/kfree_skb")
int dropped(__u64 *ctx)
{
	const struct drop_settings *settings = settings_of_agent();

	if (settings && settings->is_over)
		return 0;
	count(handle_drop(ctx));
	return 0;
}
