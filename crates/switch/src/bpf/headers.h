/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The headers of a packet, and detection of INT. */
#pragma once

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "../../../host/src/bpf/format.h"
#include "../../../host/src/bpf/offload.h"
#include "abi.h"

#define L3 ((__u32)sizeof(struct ethhdr))
/* Bytes of a packet's start that are read. */
#define HEAD_BYTES 256
/* Bytes of it that are read first, without a call: as many words as there are. */
#define LEAST_NEAR_BYTES 56
#define NEAR_BYTES 128
/* Room for MAX_HOP_WORDS, a power of two. */
#define MAX_HOP_BYTES 64
#define FRAGMENT_OFFSET 0x1fff
#define FRAGMENT_BITS 0x3fff
#define GRE_BYTES 4
#define VXLAN_BYTES 8
#define VXLAN_GPE_PORT 4790
#define VXLAN_FLAG_NEXT_PROTOCOL 0x04
#define GENEVE_BYTES 8
/* Words of options, in the first byte of the base header; the version is above. */
#define GENEVE_OPTIONS 0x3f
#define MAX_GENEVE_OPTIONS_WORDS 63
/* Maximum number of options before INT that are read. */
#define MAX_OTHER_OPTIONS 8

/* The header of the option that INT is in. */
struct geneve_option {
	__be16 class;
	/* The highest bit: critical. */
	__u8 type;
	/* Words behind this header, below three reserved bits. */
	__u8 length;
};

#define GENEVE_TYPE 0x7f
#define HOST_INT_FIRST_BYTE 3
#define GENEVE_LENGTH 0x1f

/* The first bytes of the packet with room for this hop's metadata, and the offsets in them. */
struct packet {
	__u8 head[HEAD_BYTES + MAX_HOP_BYTES];
	/* The number of packet bytes in `head`, at most HEAD_BYTES, and of the whole frame. */
	__u32 visible;
	__u32 length;
	/* Offsets from the start of the frame; `end` by the IP header's length. */
	__u32 l4;
	__u32 end;
	__u32 shim;
	/* The bytes of `head` to write, and the number of the interface by which the packet then leaves. */
	__u32 written;
	__u32 out;
	__be16 ethertype;
	__u8 version;
	__u8 protocol;
	__u8 dscp;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct packet);
} SCRATCH SEC(".maps");

/* Keeps the compiler from merging or dropping comparisons, which the verifier could not follow. */
#define APART(length) asm volatile("" : "+r"(length))

/* The result of the search for INT. */
enum find {
	/* It carries no INT. */
	PLAIN,
	/* It carries INT-MD of 2.1 at `shim`, in a form that the kernel can extend. */
	AT_SHIM,
	/* It is marked, but what follows is no INT: it passes unchanged. */
	NOT_INT,
	/* It may carry INT: the engine decides. */
	UNSURE,
};

/* `packet->head` at an offset that the verifier knows to be below HEAD_BYTES. */
static __always_inline void *head_at(const struct packet *packet, __u32 at)
{
	asm volatile("" : "+r"(at));
	return (__u8 *)packet->head + (at & (HEAD_BYTES - 1));
}

static __always_inline struct iphdr *ipv4(struct packet *packet)
{
	return (struct iphdr *)(packet->head + L3);
}

static __always_inline struct ipv6hdr *ipv6(struct packet *packet)
{
	return (struct ipv6hdr *)(packet->head + L3);
}

static __always_inline struct udphdr *udp(const struct packet *packet)
{
	return head_at(packet, packet->l4);
}

static __always_inline struct tcphdr *tcp(const struct packet *packet)
{
	return head_at(packet, packet->l4);
}

/*
 * Reads the first bytes by words, as the compiler, which knows of no alignment, would
 * copy bytes. Returns whether there are enough of them for most headers.
 */
static __always_inline int read_near(struct packet *packet, const void *data, const void *data_end)
{
	const __u64 *from = data;
	__u64 *to = (__u64 *)packet->head;

	if (data + LEAST_NEAR_BYTES > data_end)
		return 0;
#pragma unroll
	for (__u32 i = 0; i < LEAST_NEAR_BYTES / sizeof(__u64); i++)
		to[i] = from[i];
#pragma unroll
	for (__u32 i = LEAST_NEAR_BYTES / sizeof(__u64); i < NEAR_BYTES / sizeof(__u64); i++) {
		if ((const void *)(from + i + 1) > data_end) {
			packet->visible = i * sizeof(__u64);
			return 1;
		}
		to[i] = from[i];
	}
	packet->visible = NEAR_BYTES;
	return 1;
}

/* Reads the start of the packet; returns a negative number where there is too little of it. */
static __noinline int read_head(struct __sk_buff *skb, struct packet *packet)
{
	__u32 length = skb->len;

	packet->length = length;
	packet->ethertype = skb->protocol;
	if (length > HEAD_BYTES)
		length = HEAD_BYTES;
	asm volatile("" : "+r"(length));
	if (length < L3 + sizeof(struct iphdr) || length > HEAD_BYTES)
		return -1;
	packet->visible = length;
	return bpf_skb_load_bytes(skb, 0, packet->head, length);
}

/* Whether an INT-MD header that the kernel can extend follows at `shim`. */
static __always_inline enum find judge_shim(const struct packet *packet, __u32 limit, __u32 at)
{
	const struct shim *shim = head_at(packet, at);
	const struct int_header *header = (const struct int_header *)(shim + 1);

	if (at + sizeof(*shim) + sizeof(*header) > packet->visible)
		return UNSURE;
	if (at + sizeof(*shim) + shim->length * 4 > limit || shim->length < INT_WORDS)
		return UNSURE;
	if (shim->type_npt >> 4 != TYPE_MD || header->version_flags >> 4 != INT_VERSION)
		return UNSURE;
	return AT_SHIM;
}

/* The types of shims before 2.0, which are the whole first byte. */
#define MAX_TYPE_BEFORE_2 3

/* Whether Hop ML contradicts the instructions; domain-specific ones may add words. */
static __always_inline int contradicts_itself(const struct int_header *header)
{
	__u32 words = header->hop_ml & HOP_ML, asked = words_of(bpf_ntohs(header->instructions));

	return header->domain_specific_id && header->ds_instruction ? words < asked : words != asked;
}

/* As `judge_shim`, behind a mark of its own, where shims before 2.0 may be as well. */
static __always_inline enum find judge_marked(const struct packet *packet, __u32 limit, __u32 at)
{
	const struct shim *shim = head_at(packet, at);
	const struct int_header *header = (const struct int_header *)(shim + 1);
	__u8 type = shim->type_npt >> 4;

	if (at + sizeof(*shim) > limit)
		return NOT_INT;
	if (at + sizeof(*shim) > packet->visible)
		return UNSURE;
	if ((shim->type_npt && shim->type_npt <= MAX_TYPE_BEFORE_2) || type == TYPE_DESTINATION)
		return UNSURE;
	if (type != TYPE_MD && type != TYPE_MX)
		return NOT_INT;
	if (shim->length < INT_WORDS || at + sizeof(*shim) + shim->length * 4 > limit)
		return NOT_INT;
	if (type == TYPE_MX || at + sizeof(*shim) + sizeof(*header) > packet->visible)
		return UNSURE;
	return header->version_flags >> 4 != INT_VERSION || contradicts_itself(header) ? NOT_INT : AT_SHIM;
}

/* Finds INT among the options of the Geneve header at `base`. */
static __noinline enum find find_in_geneve(struct packet *packet, const struct config *config, __u32 limit,
					   __u32 base)
{
	__u32 at = base + GENEVE_BYTES;
	const __u8 *header = head_at(packet, base);
	const struct geneve_option *option;
	__u32 end = at + (header[0] & GENEVE_OPTIONS) * 4;
	__u32 words;

	if (at > packet->visible || header[0] & ~GENEVE_OPTIONS || end > limit)
		return UNSURE;
	for (int i = 0; i < MAX_OTHER_OPTIONS; i++) {
		if (at >= end)
			return PLAIN;
		if (at + sizeof(*option) > packet->visible)
			return UNSURE;
		option = head_at(packet, at);
		words = option->length & GENEVE_LENGTH;
		if (at + sizeof(*option) + words * 4 > end)
			return UNSURE;
		if (option->class == bpf_htons(config->geneve_classes[0]) ||
		    option->class == bpf_htons(config->geneve_classes[1])) {
			const struct int_header *start = head_at(packet, at + sizeof(*option));

			packet->shim = at;
			if (at + sizeof(*option) + sizeof(*start) > packet->visible || words < INT_WORDS)
				return UNSURE;
			return (option->type & GENEVE_TYPE) == TYPE_MD && start->version_flags >> 4 == INT_VERSION ?
				       AT_SHIM :
				       UNSURE;
		}
		at += sizeof(*option) + words * 4;
	}
	return UNSURE;
}

/* Finds INT behind UDP. */
static __always_inline enum find find_behind_udp(struct packet *packet, const struct config *config)
{
	__u16 port = bpf_ntohs(udp(packet)->dest);
	__u32 limit = packet->l4 + bpf_ntohs(udp(packet)->len);
	__u32 payload = packet->l4 + sizeof(struct udphdr);
	const struct shim *shim = head_at(packet, payload);
	const __u8 *tunnel = head_at(packet, payload);
	__u8 npt;

	if (limit > packet->end || payload > limit)
		return UNSURE;
	switch (config->kind) {
	case KIND_UDP:
		if (port != config->udp_port)
			return PLAIN;
		npt = shim->type_npt >> 2 & 3;
		packet->shim = payload;
		if (payload + sizeof(*shim) > packet->visible)
			return UNSURE;
		if (npt == NPT_UDP_PAYLOAD || npt == NPT_L4_HEADER)
			return judge_marked(packet, limit, payload);
		return shim->type_npt <= MAX_TYPE_BEFORE_2 ? UNSURE : NOT_INT;
	case KIND_VXLAN_GPE:
		if (port != VXLAN_GPE_PORT)
			return PLAIN;
		if (payload + VXLAN_BYTES > packet->visible || payload + VXLAN_BYTES > limit)
			return UNSURE;
		if (!(tunnel[0] & VXLAN_FLAG_NEXT_PROTOCOL))
			return PLAIN;
		packet->shim = payload + VXLAN_BYTES;
		if (tunnel[3] == config->vxlan_gpe_next_protocols[0])
			return judge_shim(packet, limit, packet->shim);
		for (int i = 1; i < 4; i++)
			if (tunnel[3] == config->vxlan_gpe_next_protocols[i])
				return UNSURE;
		return PLAIN;
	case KIND_GENEVE:
		if (port != GENEVE_PORT)
			return PLAIN;
		return find_in_geneve(packet, config, limit, payload);
	}
	return PLAIN;
}

static __always_inline int has_marker(const struct packet *packet, const struct config *config, __u32 at)
{
	__u64 marker;

	/* It may be unaligned. */
	__builtin_memcpy(&marker, head_at(packet, at), sizeof(marker));
	return marker == config->probe_marker;
}

/* Finds INT behind TCP or UDP, announced by the DSCP or by a marker. */
static __always_inline enum find find_behind_l4(struct packet *packet, const struct config *config)
{
	__u32 limit = packet->end;
	enum find found;
	__u32 at;

	if (packet->protocol == IPPROTO_UDP) {
		limit = packet->l4 + bpf_ntohs(udp(packet)->len);
		at = packet->l4 + sizeof(struct udphdr);
	} else {
		at = packet->l4 + tcp(packet)->doff * 4;
		if (tcp(packet)->doff < 5)
			return UNSURE;
		if (config->flags & BEFORE_TCP_OPTIONS)
			at = packet->l4 + sizeof(struct tcphdr);
	}
	if (limit > packet->end || at > limit)
		return UNSURE;
	packet->shim = at;
	if (config->kind == KIND_PROBE_MARKER) {
		if (at + sizeof(config->probe_marker) > packet->visible)
			return UNSURE;
		return has_marker(packet, config, at) ? UNSURE : PLAIN;
	}
	/* Host-INT may precede TCP options. */
	if (packet->protocol == IPPROTO_TCP && at != packet->l4 + sizeof(struct tcphdr) &&
	    *(const __u8 *)head_at(packet, packet->l4 + sizeof(struct tcphdr)) == HOST_INT_FIRST_BYTE)
		return UNSURE;
	found = judge_marked(packet, limit, at);
	if (found != UNSURE && packet->protocol == IPPROTO_UDP && may_be_tunnel_header(udp(packet)->dest) &&
	    (found == NOT_INT || !is_exact(head_at(packet, at))))
		return PLAIN;
	return found;
}

/* Finds INT behind GRE. */
static __always_inline enum find find_behind_gre(struct packet *packet, const struct config *config)
{
	const __be16 *gre = head_at(packet, packet->l4);

	if (packet->l4 + GRE_BYTES > packet->visible)
		return UNSURE;
	if (gre[1] != bpf_htons(config->gre_protocol))
		return PLAIN;
	if (gre[0])
		return UNSURE;
	packet->shim = packet->l4 + GRE_BYTES;
	return judge_shim(packet, packet->end, packet->shim);
}

/* Reads the IP header. */
static __always_inline enum find read_ip(struct packet *packet)
{
	struct iphdr *ip = ipv4(packet);

	if (packet->ethertype == bpf_htons(ETH_P_IP)) {
		if (ip->version != 4 || ip->ihl < 5)
			return UNSURE;
		packet->version = 4;
		packet->protocol = ip->protocol;
		packet->dscp = ip->tos >> 2;
		packet->l4 = L3 + ip->ihl * 4;
		packet->end = L3 + bpf_ntohs(ip->tot_len);
		/* Later fragments carry no INT header. */
		if (ip->frag_off & bpf_htons(FRAGMENT_OFFSET))
			return PLAIN;
		return ip->frag_off & bpf_htons(FRAGMENT_BITS) ? UNSURE : AT_SHIM;
	}
	if (packet->visible < L3 + sizeof(struct ipv6hdr) || ip->version != 6)
		return UNSURE;
	packet->version = 6;
	packet->protocol = ipv6(packet)->nexthdr;
	packet->dscp = ipv6(packet)->priority << 2 | ipv6(packet)->flow_lbl[0] >> 6;
	packet->l4 = L3 + sizeof(struct ipv6hdr);
	packet->end = packet->l4 + bpf_ntohs(ipv6(packet)->payload_len);
	switch (packet->protocol) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
	case IPPROTO_FRAGMENT:
	case IPPROTO_MH:
		return UNSURE;
	}
	return AT_SHIM;
}

/* Whether the packet may carry INT that this domain marks, and where. */
static __always_inline enum find find_int(struct packet *packet, const struct config *config)
{
	enum find found = read_ip(packet);

	if (found != AT_SHIM)
		return found;
	if (packet->end > packet->length)
		return UNSURE;
	if (config->kind == KIND_GRE)
		return packet->protocol == IPPROTO_GRE ? find_behind_gre(packet, config) : PLAIN;
	if (packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP)
		return PLAIN;
	if (packet->l4 + sizeof(struct udphdr) > packet->visible)
		return UNSURE;
	if (packet->protocol == IPPROTO_TCP && packet->l4 + sizeof(struct tcphdr) > packet->visible)
		return UNSURE;
	if (config->kind == KIND_DSCP) {
		if (!config->dscp_mask || ((packet->dscp ^ config->dscp) & config->dscp_mask))
			return PLAIN;
		return find_behind_l4(packet, config);
	}
	if (config->kind == KIND_PROBE_MARKER)
		return find_behind_l4(packet, config);
	if (packet->protocol == IPPROTO_UDP)
		return find_behind_udp(packet, config);
	/* Versions before 2.0 may mark INT by a TCP port. */
	return config->kind == KIND_UDP && tcp(packet)->dest == bpf_htons(config->udp_port) ? UNSURE : PLAIN;
}

/* Reads the start of the packet, and searches for INT. */
static __always_inline enum find find_in(struct __sk_buff *skb, struct packet *packet, const struct config *config)
{
	int is_read = !read_near(packet, (void *)(long)skb->data, (void *)(long)skb->data_end);
	enum find found;

	packet->length = skb->len;
	packet->ethertype = skb->protocol;
	if (is_read && read_head(skb, packet))
		return UNSURE;
again:
	found = find_int(packet, config);
	if (found != UNSURE || is_read)
		return found;
	/* In bytes that have to be read by a call. */
	is_read = 1;
	if (read_head(skb, packet))
		return UNSURE;
	goto again;
}
