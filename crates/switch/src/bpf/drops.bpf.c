// SPDX-License-Identifier: MIT OR Apache-2.0
// Drops by Linux of packets between the interfaces: a program at the tracepoint that every dropped
// packet passes. It counts by interface and reason, and sends samples of the packets to the switch.

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "../../../host/src/bpf/lost.h"
#include "drops.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct drop_settings);
} SETTINGS SEC(".maps");

/* The switch's devices, by their index. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} DEVICES SEC(".maps");

/* Reasons that are no loss of a forwarded packet, by number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_REASONS);
	__type(key, __u32);
	__type(value, __u32);
} NO_LOSSES SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_COUNTS);
	__type(key, struct drop_key);
	__type(value, __u64);
} DROPS SEC(".maps");

/* Dropped packets without a sample, and those that did not fit into the table of counts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DROP_FAULTS);
	__type(key, __u32);
	__type(value, __u64);
} FAULTS SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 21);
} SAMPLES SEC(".maps");

struct sk_buff___type {
	__u8 pkt_type : 3;
} __attribute__((preserve_access_index));

/* To this host or for forwarding: not to groups or broadcast, nor to another station of the link. */
#define PACKET_HOST 0

static __always_inline int is_to_host(const struct sk_buff *skb)
{
	const struct sk_buff___type *packet = (const void *)skb;

	return BPF_CORE_READ_BITFIELD_PROBED(packet, pkt_type) == PACKET_HOST;
}

static __always_inline void count_fault(__u32 fault)
{
	__u64 *count = bpf_map_lookup_elem(&FAULTS, &fault);

	if (count)
		__sync_fetch_and_add(count, 1);
}

static __always_inline void count_drop(const struct drop_key *key, __u64 packets)
{
	__u64 *held = bpf_map_lookup_elem(&DROPS, key);

	if (!held && !bpf_map_update_elem(&DROPS, key, &packets, BPF_NOEXIST))
		return;
	/* Another processor was faster, or there is no room. */
	if (!held)
		held = bpf_map_lookup_elem(&DROPS, key);
	if (held)
		__sync_fetch_and_add(held, packets);
	else
		count_fault(DROP_NOT_COUNTED);
}

/* Copies the packet from its IP header on; returns the number of bytes, or 0 without such a header. */
static __always_inline __u32 load(const struct sk_buff *skb, struct drop_sample *sample)
{
	__u32 from = BPF_CORE_READ(skb, network_header);
	__u32 length = BPF_CORE_READ(skb, tail) - from;

	if (length > 0xffff)
		return 0;
	if (length > SAMPLE_BYTES)
		length = SAMPLE_BYTES;
	asm volatile("" : "+r"(length));
	if (length < sizeof(struct iphdr) || length > SAMPLE_BYTES)
		return 0;
	return bpf_probe_read_kernel(sample->bytes, length, BPF_CORE_READ(skb, head) + from) ? 0 : length;
}

/* Sends a sample of the packet to the switch. */
static __always_inline void tell(const struct sk_buff *skb, const struct drop_settings *settings, __u32 reason,
				 __u32 ingress, __u32 device)
{
	struct drop_sample *sample = bpf_ringbuf_reserve(&SAMPLES, sizeof(*sample), 0);

	if (!sample) {
		count_fault(DROP_NOT_TOLD);
		return;
	}
	sample->time = bpf_ktime_get_ns() + settings->clock_offset;
	sample->reason = reason;
	sample->ingress = ingress;
	sample->device = device;
	sample->route_error = error_of(route_of(skb));
	sample->captured = load(skb, sample);
	if (sample->captured)
		bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard(sample, BPF_RB_NO_WAKEUP);
}

SEC("raw_tp/kfree_skb")
int dropped(__u64 *ctx)
{
	/* The packet, the address of the code that dropped it, and the reason. */
	const struct sk_buff *skb = (const struct sk_buff *)ctx[0];
	__u32 reason = ctx[2], zero = 0;
	const struct drop_settings *settings = bpf_map_lookup_elem(&SETTINGS, &zero);
	const __u32 *is_no_loss = bpf_map_lookup_elem(&NO_LOSSES, &reason);
	struct drop_key key = { .reason = reason };
	const struct net_device *at;
	__u32 device = 0;

	if (!settings || settings->is_over || (is_no_loss && *is_no_loss))
		return 0;
	/* A packet for a socket of this host is not forwarded. */
	if (socket_of(ctx))
		return 0;
	switch (BPF_CORE_READ(skb, protocol)) {
	case bpf_htons(ETH_P_IP):
	case bpf_htons(ETH_P_IPV6):
		break;
	default:
		return 0;
	}
	if (!is_to_host(skb))
		return 0;
	/* A socket stores other data in the field of the device; a forwarded packet has a device. */
	at = BPF_CORE_READ(skb, dev);
	if (!at || BPF_CORE_READ(at, nd_net.net, ns.inum) != settings->namespace)
		return 0;
	device = BPF_CORE_READ(at, ifindex);
	key.device = BPF_CORE_READ(skb, skb_iif);
	/* The host's own packets came by no device. */
	if (!key.device)
		key.device = device;
	if (!bpf_map_lookup_elem(&DEVICES, &key.device))
		return 0;
	count_drop(&key, segments_of(skb));
	tell(skb, settings, reason, BPF_CORE_READ(skb, skb_iif), device);
	return 0;
}
