/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Changes of the headers around INT when it is inserted or removed. */
#pragma once

#include "checksum.h"
#include "packet.h"

/* A change of the bytes that an L4 checksum covers. */
struct change {
	__u64 removed;
	__u64 added;
	/* Bytes added; negative: removed. */
	__s32 grown;
};

/* Changes a word of the IPv4 header, and its checksum accordingly. */
static __always_inline void set_ipv4_word(struct iphdr *ip, __be16 *word, __be16 value)
{
	if (*word == value)
		return;
	ip->check = corrected_word(ip->check, *word, value);
	*word = value;
}

/* The word of the IPv4 header that holds the byte at `offset`, an odd number. */
static __always_inline __be16 *ipv4_word(struct iphdr *ip, __u32 offset)
{
	return (__be16 *)((__u8 *)ip + offset - 1);
}

/* Sets an odd byte of the IPv4 header. */
static __always_inline void set_ipv4_byte(struct iphdr *ip, __u32 offset, __u8 value)
{
	__be16 *word = ipv4_word(ip, offset);

	set_ipv4_word(ip, word, bpf_htons((bpf_ntohs(*word) & 0xff00) | value));
}

/* Makes the IP packet `grown` bytes longer. */
static __always_inline void resize_ip(struct packet *packet, __s32 grown)
{
	struct iphdr *ip = ipv4(packet);

	if (packet->version == 4)
		set_ipv4_word(ip, &ip->tot_len, bpf_htons(bpf_ntohs(ip->tot_len) + grown));
	else
		ipv6(packet)->payload_len = bpf_htons(bpf_ntohs(ipv6(packet)->payload_len) + grown);
	packet->end += grown;
}

static __always_inline void set_dscp(struct packet *packet, __u8 dscp)
{
	struct ipv6hdr *ip = ipv6(packet);

	if (packet->version == 4) {
		set_ipv4_byte(ipv4(packet), offsetof(struct iphdr, tos), dscp << 2 | (ipv4(packet)->tos & 3));
		return;
	}
	ip->priority = dscp >> 2;
	ip->flow_lbl[0] = (ip->flow_lbl[0] & 0x3f) | dscp << 6;
}

static __always_inline void set_protocol(struct packet *packet, __u8 protocol)
{
	if (packet->version == 4)
		set_ipv4_byte(ipv4(packet), offsetof(struct iphdr, protocol), protocol);
	else
		ipv6(packet)->nexthdr = protocol;
}

/* Adds the effect of the lengths to the sum: once in the pseudo-header, and for UDP again in its header. */
static __always_inline void add_lengths(const struct packet *packet, struct change *change)
{
	__u32 times = packet->protocol == IPPROTO_TCP ? 1 : 2;

	if (change->grown > 0)
		change->added += times * bpf_htons(change->grown);
	else
		change->removed += times * bpf_htons(-change->grown);
}

static __always_inline void resize_udp(struct packet *packet, __s32 grown)
{
	if (packet->protocol == IPPROTO_UDP)
		udp(packet)->len = bpf_htons(bpf_ntohs(udp(packet)->len) + grown);
}

/* Corrects the checksum of TCP or UDP for a change, its lengths included. */
static __always_inline void correct_l4(struct packet *packet, const struct change *change)
{
	if (packet->protocol == IPPROTO_TCP)
		tcp(packet)->check = corrected(tcp(packet)->check, change->removed, change->added);
	else
		udp(packet)->check = corrected_udp(udp(packet)->check, change->removed, change->added);
}

/*
 * Opens or closes a gap behind the fixed IP header, and writes the headers, up to byte
 * `end`, over it. Returns 0, or the kernel's error; the packet is then unchanged.
 */
static __always_inline long move_headers(struct __sk_buff *skb, const struct packet *packet, __s32 grown,
					 __u32 end)
{
	__u32 length = end - L3;
	long fault = bpf_skb_adjust_room(skb, grown, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET);

	if (fault)
		return fault;
	asm volatile("" : "+r"(length));
	if (length == 0 || length > HEAD_BYTES)
		return -1;
	return bpf_skb_store_bytes(skb, L3, packet->head + L3, length, BPF_F_RECOMPUTE_CSUM);
}
