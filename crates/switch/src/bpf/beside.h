/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * INT that is kept beside its packet while the packet passes the stack.
 *
 * Links between switches carry longer packets than those to hosts, so that there is room for INT. The
 * stack compares a packet's length with the MTU of its egress device before INT is removed there. Packets
 * longer than the narrowest device's MTU therefore pass the stack without INT, and get it back behind it.
 */
#pragma once

#include "transit.h"

/* A marker; a shim, or the header of an option; the 255 words behind it; and headers around the packet. */
#define MAX_INT_BYTES (1024 + 64)
/* Of a GRE shim: the source has added the headers before it. */
#define GRE_IS_ADDED 0x08
/* Of INT headers of 2.x: the sink discards the packet. */
#define INT_DISCARD 0x08
/* Packets may wait for the address of a neighbor; a processor has dozens of others in the stack at most. */
#define BESIDES 4096

struct beside {
	/* The token of the packet; 0: the bytes are being written. */
	__u64 token;
	/* Time of arrival. */
	__u64 came_at;
	/* Offset of INT from the start of the frame, and its length. */
	__u32 shim;
	__u32 length;
	/* Of the headers before it, which the stack may translate, but not replace by others. */
	__u32 l4;
	__u8 version;
	__u8 protocol;
	__u8 unused[2];
	__u8 bytes[MAX_INT_BYTES];
};

/* By token. Later entries replace earlier ones. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BESIDES);
	__type(key, __u32);
	__type(value, struct beside);
} BESIDE SEC(".maps");

/* The number of tokens that all processors have taken. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} TOKENS SEC(".maps");

/*
 * The lowest bit of an arrival indicates a token in its place, which no other packet has:
 * INT is kept beside the packet. The next bit indicates that the packet must not leave without it.
 */
#define HAS_BESIDE 1ULL
#define DISCARDS 2ULL
#define TOKEN_SHIFT 2

/* 0: there is none. */
static __always_inline __u64 next_token(void)
{
	__u32 zero = 0;
	__u64 *taken = bpf_map_lookup_elem(&TOKENS, &zero);

	return taken ? __sync_fetch_and_add(taken, 1) << TOKEN_SHIFT | HAS_BESIDE : 0;
}

static __always_inline struct beside *beside_of(__u64 token)
{
	__u32 place = (token >> TOKEN_SHIFT) & (BESIDES - 1);

	return bpf_map_lookup_elem(&BESIDE, &place);
}

/* Older kernels sum no more bytes in one call. */
#define MAX_SUMMED 512

/* Sums up to MAX_SUMMED bytes of INT from `start` on, of `length`. */
static __always_inline __u64 sum_of_part(struct beside *beside, __u32 start, __u32 length)
{
	__u32 part;

	if (length <= start)
		return 0;
	part = length - start > MAX_SUMMED ? MAX_SUMMED : length - start;
	APART(part);
	if (part > MAX_SUMMED || start + part > MAX_INT_BYTES)
		return 0;
	return (__u32)bpf_csum_diff(0, 0, (__be32 *)(beside->bytes + start), part, 0);
}

/* 0 behind GRE, which needs no sum. */
static __always_inline __u64 sum_of_int(struct beside *beside, __u32 length)
{
	if (beside->protocol == IPPROTO_GRE)
		return 0;
	return sum_of_part(beside, 0, length) + sum_of_part(beside, MAX_SUMMED, length) +
	       sum_of_part(beside, 2 * MAX_SUMMED, length);
}

/* Gives the bits of the DSCP in `mask` this value. */
static __always_inline void set_dscp(struct packet *packet, __u16 mask, __u16 value)
{
	__be16 *first = (__be16 *)(packet->head + L3);
	/* IPv6 has the version before the traffic class, IPv4 the header length, too. */
	int shift = packet->version == 4 ? 2 : 6;
	__be16 changed = bpf_htons((bpf_ntohs(*first) & ~(mask << shift)) | (value & mask) << shift);

	if (packet->version == 4)
		ipv4(packet)->check = corrected_word(ipv4(packet)->check, *first, changed);
	*first = changed;
}

/*
 * The length of the headers that the source added around the packet for INT. As many bytes behind INT are
 * kept beside the packet, too: it passes the stack with the headers that short packets of its flow have.
 */
static __always_inline __u32 outer_bytes(const struct packet *packet, const struct config *config)
{
	const struct shim *shim = head_at(packet, packet->shim);
	__u16 original = bpf_ntohs(shim->original);

	if (config->kind == KIND_UDP && (shim->type_npt >> 2 & 3) == NPT_L4_HEADER) {
		if (original != IPPROTO_IPIP && original != IPPROTO_IPV6)
			return sizeof(struct udphdr);
		return sizeof(struct udphdr) +
		       (packet->version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	}
	if (config->kind == KIND_GRE && (shim->type_npt & GRE_IS_ADDED))
		return sizeof(struct iphdr) + GRE_BYTES + (original == ETH_P_TEB ? sizeof(struct ethhdr) : 0);
	return 0;
}

/* Whether INT-MX is at `shim`, which only the engine handles. */
static __always_inline int is_mx(const struct packet *packet, const struct config *config)
{
	const struct shim *shim = head_at(packet, packet->shim);
	const struct int_header *header = (const struct int_header *)(shim + 1);

	if (config->kind == KIND_GENEVE || config->kind == KIND_PROBE_MARKER || !packet->shim)
		return 0;
	if (packet->shim + sizeof(*shim) + sizeof(*header) > packet->visible)
		return 0;
	return shim->type_npt >> 4 == TYPE_MX && shim->length >= INT_WORDS &&
	       header->version_flags >> 4 == INT_VERSION;
}

/* The number of bytes of INT at `shim`; 0: no INT that can be removed. */
static __always_inline __u32 int_bytes(struct packet *packet, const struct config *config)
{
	const struct shim *behind_marker;
	enum find found;
	__u32 length;

	packet->shim = 0;
	found = find_int(packet, config);
	if (found == AT_SHIM || (found == UNSURE && is_mx(packet, config))) {
		length = (int_words(packet, config) + 1) * 4 + outer_bytes(packet, config);
	} else {
		if (config->kind != KIND_PROBE_MARKER || found != UNSURE || !packet->shim)
			return 0;
		if (packet->shim + sizeof(__u64) + sizeof(*behind_marker) > packet->visible ||
		    !has_marker(packet, config, packet->shim))
			return 0;
		behind_marker = head_at(packet, packet->shim + sizeof(__u64));
		length = sizeof(__u64) + (behind_marker->length + 1) * 4;
	}
	return packet->shim + length > packet->end || packet->shim > packet->visible ? 0 : length;
}

/* Whether the sink discards the packet whose INT is `beside` it. */
static __always_inline int discards(const struct beside *beside, const struct config *config)
{
	__u32 at = sizeof(struct shim) + (config->kind == KIND_PROBE_MARKER ? sizeof(__u64) : 0);

	return beside->bytes[at] >> 4 == INT_VERSION && (beside->bytes[at] & INT_DISCARD);
}

/*
 * Removes INT from the packet. Returns its arrival, or a token
 * where that was done; 0: the packet is damaged and must be dropped.
 */
static __noinline __u64 put_beside(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				   __u64 came_at)
{
	struct beside *beside;
	__u32 length;
	__u64 token;
	__u8 dscp;

	/* For packets still to be segmented, the stack compares the segments. */
	if (skb->gso_size || lacks_checksum(skb) || read_head(skb, packet))
		return came_at;
	length = int_bytes(packet, config);
	if (!length)
		return came_at;
	token = next_token();
	beside = beside_of(token);
	if (!token || !beside)
		return came_at;
	beside->token = 0;
	beside->came_at = came_at;
	beside->shim = packet->shim;
	beside->length = length;
	beside->l4 = packet->l4;
	beside->version = packet->version;
	beside->protocol = packet->protocol;
	APART(length);
	if (length == 0 || length > MAX_INT_BYTES || bpf_skb_load_bytes(skb, packet->shim, beside->bytes, length))
		return came_at;
	/* The second byte of the shim's field. */
	dscp = beside->bytes[sizeof(struct shim) - 1] >> 2;
	shorten(packet, sum_of_int(beside, length), length);
	if (config->kind == KIND_DSCP)
		set_dscp(packet, config->dscp_mask, dscp);
	if (bpf_skb_adjust_room(skb, -(__s32)length, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return came_at;
	if (write_back(skb, packet, packet->shim, BPF_F_RECOMPUTE_CSUM))
		return 0;
	if (discards(beside, config))
		token |= DISCARDS;
	beside->token = token;
	return token;
}

/* The outcome for a packet with INT beside it. */
enum put_back {
	IS_BACK,
	/* Another packet's INT is in its place, or the stack has made a different packet of it. */
	IS_GONE,
	/* The packet has none: with it, it would be longer than the device's MTU. */
	HAS_NO_ROOM,
	/* The packet must be dropped. */
	IS_DAMAGED,
};

/* Puts INT back into the packet. At an edge it may be as long as on arrival; the engine removes INT. */
static __always_inline enum put_back put_back(struct __sk_buff *skb, struct packet *packet, struct way *way,
					      __u64 token)
{
	struct beside *beside = beside_of(token);
	const struct config *config = way->config;
	__u32 length;

	if (!beside || beside->token != token)
		return IS_GONE;
	way->came_at = beside->came_at;
	if (read_head(skb, packet) || read_ip(packet) != AT_SHIM)
		return IS_GONE;
	length = beside->length;
	packet->shim = beside->shim;
	if (packet->l4 != beside->l4 || packet->version != beside->version || packet->protocol != beside->protocol)
		return IS_GONE;
	if (packet->shim > packet->visible || packet->end > packet->length || packet->shim > packet->end)
		return IS_GONE;
	if (!way->out->is_edge && packet->length + length > L3 + way->out->device_mtu)
		return HAS_NO_ROOM;
	correct_l4(packet, 0, sum_of_int(beside, length), length);
	grow_lengths(packet, length);
	if (config->kind == KIND_DSCP)
		set_dscp(packet, config->dscp_mask, config->dscp);
	APART(length);
	if (length == 0 || length > MAX_INT_BYTES)
		return IS_GONE;
	if (bpf_skb_adjust_room(skb, length, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return IS_GONE;
	if (write_back(skb, packet, packet->shim, BPF_F_RECOMPUTE_CSUM))
		return IS_DAMAGED;
	APART(length);
	if (length == 0 || length > MAX_INT_BYTES)
		return IS_DAMAGED;
	if (bpf_skb_store_bytes(skb, packet->shim, beside->bytes, length, BPF_F_RECOMPUTE_CSUM))
		return IS_DAMAGED;
	/* Another packet may have replaced the bytes meanwhile. */
	return *(volatile __u64 *)&beside->token == token ? IS_BACK : IS_DAMAGED;
}
