/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transit hop: metadata is added to an INT-MD stack, or the packet is marked. */
#pragma once

#include "../../../host/src/bpf/checksum.h"
#include "../../../host/src/bpf/qdisc.h"
#include "headers.h"

/* The engine does it. */
#define ENGINE -1

#define CHECKSUM_PARTIAL 3

/* The baseline instructions, and the checksum complement. */
#define KNOWN_INSTRUCTIONS 0xff81

struct sk_buff___checksum {
	__u8 ip_summed : 2;
} __attribute__((preserve_access_index));

/* What is known of the packet at hand. */
struct way {
	const struct config *config;
	const struct port *in;
	const struct port *out;
	/* Nanoseconds of the monotonic clock; 0: not known. */
	__u64 came_at;
	__u64 left_at;
};

static __always_inline void put32(struct packet *packet, __u32 *at, __u32 value)
{
	__u32 offset = *at;

	asm volatile("" : "+r"(offset));
	*(__be32 *)(packet->hop + (offset & 0x3c)) = bpf_htonl(value);
	*at += sizeof(value);
}

static __always_inline void put64(struct packet *packet, __u32 *at, __u64 value)
{
	put32(packet, at, value >> 32);
	put32(packet, at, value);
}

/* The time of day; all ones: not known. */
static __always_inline __u64 time_of_day(const struct way *way, __u64 monotonic)
{
	return monotonic ? monotonic + way->config->clock_offset : ~0ULL;
}

static __always_inline __u32 latency(struct __sk_buff *skb, const struct way *way)
{
	__u64 ns = way->left_at - way->came_at;

	if (!way->came_at || way->came_at > way->left_at || may_wait(skb))
		return QUEUE_UNKNOWN;
	return ns < QUEUE_UNKNOWN ? ns : QUEUE_UNKNOWN - 1;
}

/* Writes this hop's metadata in the order of the instructions. */
static __always_inline void write_hop(struct __sk_buff *skb, struct packet *packet, const struct way *way,
				      __u16 asked)
{
	__u32 at = 0;

	if (asked & NODE_ID)
		put32(packet, &at, way->config->node_id);
	if (asked & INTERFACES)
		put32(packet, &at, (__u32)(way->in ? way->in->id : 0xffff) << 16 | way->out->id);
	if (asked & HOP_LATENCY)
		put32(packet, &at, latency(skb, way));
	if (asked & QUEUE_OCCUPANCY)
		put32(packet, &at, root_queue(skb));
	if (asked & INGRESS_TIMESTAMP)
		put64(packet, &at, time_of_day(way, way->came_at));
	if (asked & EGRESS_TIMESTAMP)
		put64(packet, &at, time_of_day(way, way->left_at));
	if (asked & LEVEL2_INTERFACES) {
		put32(packet, &at, way->in ? way->in->level2_id : NOT_AVAILABLE);
		put32(packet, &at, way->out->level2_id);
	}
	if (asked & EGRESS_UTILIZATION)
		put32(packet, &at, NOT_AVAILABLE);
	if (asked & BUFFER_OCCUPANCY)
		put32(packet, &at, NOT_AVAILABLE);
	if (asked & CHECKSUM_COMPLEMENT)
		put32(packet, &at, NOT_AVAILABLE);
}

/* Corrects the L4 checksum for words that left and came, and for `grown` bytes. */
static __always_inline void correct_l4(struct packet *packet, __u64 removed, __u64 added, __u32 grown)
{
	if (packet->protocol == IPPROTO_TCP) {
		added += bpf_htons(grown);
		tcp(packet)->check = corrected(tcp(packet)->check, removed, added);
	} else if (packet->protocol == IPPROTO_UDP) {
		added += 2 * bpf_htons(grown);
		udp(packet)->check = corrected_udp(udp(packet)->check, removed, added);
	}
}

static __always_inline void grow_lengths(struct packet *packet, __u32 grown)
{
	struct iphdr *ip = ipv4(packet);
	__be16 length;

	if (packet->version == 4) {
		length = bpf_htons(bpf_ntohs(ip->tot_len) + grown);
		ip->check = corrected_word(ip->check, ip->tot_len, length);
		ip->tot_len = length;
	} else {
		ipv6(packet)->payload_len = bpf_htons(bpf_ntohs(ipv6(packet)->payload_len) + grown);
	}
	if (packet->protocol == IPPROTO_UDP)
		udp(packet)->len = bpf_htons(bpf_ntohs(udp(packet)->len) + grown);
}

static __always_inline __u64 sum_of_start(const struct shim *shim)
{
	return (__u32)bpf_csum_diff(0, 0, (__be32 *)shim, sizeof(*shim) + sizeof(struct int_header), 0);
}

/* Writes `head` back, from the IP header to byte `end`. */
static __always_inline int write_back(struct __sk_buff *skb, struct packet *packet, __u32 end)
{
	__u32 length = end - L3;

	asm volatile("" : "+r"(length));
	if (length == 0 || length > HEAD_BYTES - L3)
		return -1;
	return bpf_skb_store_bytes(skb, L3, packet->head + L3, length, 0);
}

/* Sets E or M, and nothing else. */
static __always_inline int set_flag(struct __sk_buff *skb, struct packet *packet, __u8 flag, enum count outcome)
{
	struct shim *shim = head_at(packet, packet->shim);
	struct int_header *header = (struct int_header *)(shim + 1);
	__u64 removed = sum_of_start(shim);

	header->version_flags |= flag;
	correct_l4(packet, removed, sum_of_start(shim), 0);
	if (write_back(skb, packet, packet->shim + sizeof(*shim) + sizeof(*header)))
		return NO_HEADROOM;
	return outcome;
}

static __always_inline int lacks_checksum(struct __sk_buff *skb)
{
	struct sk_buff___checksum *packet = (void *)skb;

	return BPF_CORE_READ_BITFIELD_PROBED(packet, ip_summed) == CHECKSUM_PARTIAL;
}

/* Whether the engine has to do what the header asks for. */
static __always_inline int is_engines(struct __sk_buff *skb, struct packet *packet, const struct config *config)
{
	const struct shim *shim = head_at(packet, packet->shim);
	const struct int_header *header = (const struct int_header *)(shim + 1);
	__u16 asked = bpf_ntohs(header->instructions);
	__u32 words = header->hop_ml;

	if (config->flags & INT_TO_ENGINE)
		return 1;
	/* Still to be cut, or without its checksum. */
	if (skb->gso_size || lacks_checksum(skb))
		return 1;
	if (packet->shim + sizeof(*shim) + sizeof(*header) > HEAD_BYTES - 4)
		return 1;
	if ((header->version_flags & 1) || header->reserved || header->domain_specific_id)
		return 1;
	if (!words || words != words_of(asked) || (asked & (__u16)~KNOWN_INSTRUCTIONS))
		return 1;
	if ((asked & CHECKSUM_COMPLEMENT) && (config->flags & KEEPS_COMPLEMENT))
		return 1;
	if (words > MOST_HOP_WORDS || shim->length + words > 0xff)
		return 1;
	return (shim->length - INT_WORDS) % words != 0;
}

/* Adds this node's metadata, or says in the packet why not. Returns what happened. */
static __always_inline int push_hop(struct __sk_buff *skb, struct packet *packet, const struct way *way)
{
	struct shim *shim = head_at(packet, packet->shim);
	struct int_header *header = (struct int_header *)(shim + 1);
	__u32 start_end = packet->shim + sizeof(*shim) + sizeof(*header);
	__u32 grown = (__u32)header->hop_ml * 4;
	__u32 length = packet->end - L3;
	__u64 removed, added;

	if (is_engines(skb, packet, way->config))
		return ENGINE;
	if (!header->remaining_hop_count)
		return set_flag(skb, packet, FLAG_HOPS_EXCEEDED, HOPS_EXCEEDED);
	if (length + grown > way->out->mtu)
		return way->config->flags & RELIEVES ? ENGINE : set_flag(skb, packet, FLAG_MTU_EXCEEDED, MTU_EXCEEDED);
	write_hop(skb, packet, way, bpf_ntohs(header->instructions));
	removed = sum_of_start(shim);
	shim->length += header->hop_ml;
	header->remaining_hop_count--;
	added = sum_of_start(shim) + sum_of(packet->hop, grown);
	correct_l4(packet, removed, added, grown);
	grow_lengths(packet, grown);
	if (bpf_skb_adjust_room(skb, grown, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return NO_HEADROOM;
	asm volatile("" : "+r"(grown));
	if (grown < 4 || grown > sizeof(packet->hop))
		return NO_HEADROOM;
	if (write_back(skb, packet, start_end))
		return NO_HEADROOM;
	if (bpf_skb_store_bytes(skb, start_end, packet->hop, grown, 0))
		return NO_HEADROOM;
	return PUSHED;
}
