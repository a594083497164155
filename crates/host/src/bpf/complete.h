/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The checksum of an outgoing packet that is left to its device, which would complete it at the
 * place where the L4 header was before INT. It is completed here; the shim does that for super-packets.
 */
#pragma once

#include "headers.h"
#include "offload.h"
#include "scratch.h"

/* Maximum bytes of payload that are summed here; the shim completes longer packets. */
#define MAX_SUMMED 9216U
/* Bytes of payload that are summed at once: the most that older kernels accept. */
#define SUMMED_AT_ONCE 512U

/* A part of the payload, and the zeros that fill its last word. */
struct part {
	__u8 bytes[SUMMED_AT_ONCE];
	__u8 zeros[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct part);
} PART SEC(".maps");

/* Offset of the checksum in the packet's L4 header. */
static __always_inline __u32 place_of_checksum(const struct packet *packet)
{
	return packet->protocol == IPPROTO_TCP ? offsetof(struct tcphdr, check) : offsetof(struct udphdr, check);
}

/* Whether what the device would sum begins at the packet's L4 header: in a tunnel it is an inner one. */
static __always_inline int is_of_l4(struct __sk_buff *skb, const struct packet *packet)
{
	const struct sk_buff *kernel = kernel_of(skb);
	__u16 start = kernel->csum_start - kernel->network_header;

	return start == packet->l4 - L3 && kernel->csum_offset == place_of_checksum(packet);
}

/* The sum of a part of the packet added to `sum`; negative: the kernel's error. */
static __always_inline __s64 add_part(struct __sk_buff *skb, struct part *part, __u32 at, __u32 length, __u32 sum)
{
	long fault;

	asm volatile("" : "+r"(length));
	if (length == 0 || length > SUMMED_AT_ONCE)
		return -1;
	fault = bpf_skb_load_bytes(skb, at, part->bytes, length);
	if (fault)
		return fault;
	__builtin_memset(part->bytes + length, 0, sizeof(part->zeros));
	length = (length + 3) & ~3U;
	return (__u32)bpf_csum_diff(0, 0, (__be32 *)part->bytes, length, sum);
}

/* The sum of the packet's payload; negative: it is too long, or the kernel's error. */
static __always_inline __s64 sum_of_payload(struct __sk_buff *skb, const struct packet *packet)
{
	__u32 zero = 0, at = packet->behind_l4, left = packet->end - at;
	struct part *part = bpf_map_lookup_elem(&PART, &zero);
	__s64 sum = 0;

	if (!part)
		return -1;
	for (__u32 i = 0; left && i < MAX_SUMMED / SUMMED_AT_ONCE; i++) {
		__u32 length = left < SUMMED_AT_ONCE ? left : SUMMED_AT_ONCE;

		sum = add_part(skb, part, at, length, sum);
		if (sum < 0)
			return sum;
		at += length;
		left -= length;
	}
	return left ? -1 : sum;
}

/* The complete checksum: the field holds the sum of the pseudo-header. */
static __always_inline __be16 checksum_with(const struct packet *packet, __u32 payload)
{
	__u16 check = ~fold(payload + sum_of(head_at(packet, packet->l4), packet->behind_l4 - packet->l4));

	return packet->protocol == IPPROTO_UDP && !check ? 0xffff : check;
}

/* Stores a checksum in the bytes of the packet that begin at `base`, and in its headers. */
static __always_inline void set_checksum(struct packet *packet, __u32 base, __be16 check)
{
	__u32 at = packet->l4 + place_of_checksum(packet);

	*(__be16 *)head_at(packet, at) = check;
	at -= base;
	asm volatile("" : "+r"(at));
	*(__be16 *)(packet->piece + (at & (HEAD_BYTES - 1))) = check;
}

/*
 * Completes a checksum that is left to the device. The kernel no longer leaves it to the device once the
 * place where its sum begins has been cut off; so the start of the packet up to there is cut off and put
 * back. Returns 0; `NO_ROOM`: the packet is spoilt; -1: it is as before, for the shim.
 */
VERIFIED_ONCE int complete_checksum(struct __sk_buff *skb, struct packet *packet)
{
	__u32 base, removed;
	__s64 payload;
	int is_done;

	if (!packet)
		return -1;
	if (!lacks_checksum(skb))
		return 0;
	base = L3 + (packet->version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	removed = packet->l4 + 1;
	if (!is_of_l4(skb, packet) || packet->end != skb->len || base + removed > packet->end)
		return -1;
	payload = sum_of_payload(skb, packet);
	asm volatile("" : "+r"(removed));
	if (payload < 0 || removed == 0 || removed > HEAD_BYTES ||
	    bpf_skb_load_bytes(skb, base, packet->piece, removed) ||
	    bpf_skb_adjust_room(skb, -(__s32)removed, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return -1;
	if (bpf_skb_adjust_room(skb, removed, BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return NO_ROOM;
	is_done = !lacks_checksum(skb);
	if (is_done)
		set_checksum(packet, base, checksum_with(packet, payload));
	if (bpf_skb_store_bytes(skb, base, packet->piece, removed, 0))
		return NO_ROOM;
	return is_done ? 0 : -1;
}
