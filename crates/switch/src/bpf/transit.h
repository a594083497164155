/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transit hop: this node's metadata on top of an INT-MD stack, or a flag in the header. */
#pragma once

#include "../../../host/src/bpf/checksum.h"
#include "headers.h"

/* The engine has to do it. */
#define ENGINE -1

/* The baseline instructions, and the checksum complement. */
#define KNOWN_INSTRUCTIONS 0xff81

/* The state of the current packet. */
struct way {
	const struct config *config;
	const struct port *in;
	const struct port *out;
	/* Nanoseconds of the monotonic clock; 0: unknown. */
	__u64 came_at;
	__u64 left_at;
	/* All ones: unknown. */
	__u32 latency;
	__u32 queue;
};

/* The hop latency or queue occupancy is unknown. */
#define UNKNOWN 0xffffffffU

/* This hop's metadata: where it begins in `head`, its bytes, and their sum. */
struct hop {
	__u8 *start;
	__u32 length;
	__u64 sum;
};

static __always_inline void put32(struct hop *hop, __u32 value)
{
	__be32 word = bpf_htonl(value);
	__u32 offset = hop->length;

	asm volatile("" : "+r"(offset));
	*(__be32 *)(hop->start + (offset & (MAX_HOP_BYTES - 4))) = word;
	hop->length += sizeof(word);
	hop->sum += word;
}

static __always_inline void put64(struct hop *hop, __u64 value)
{
	put32(hop, value >> 32);
	put32(hop, value);
}

/* The time of day; all ones: unknown. */
static __always_inline __u64 time_of_day(const struct way *way, __u64 monotonic)
{
	return monotonic ? monotonic + way->config->clock_offset : ~0ULL;
}

/* Nanoseconds between the programs; all ones: unknown. */
static __always_inline __u32 latency(const struct way *way)
{
	__u64 ns = way->left_at - way->came_at;

	if (!way->came_at || way->came_at > way->left_at)
		return UNKNOWN;
	return ns < UNKNOWN ? ns : UNKNOWN - 1;
}

/* Notes the time of departure and the hop latency, if they are requested. */
static __always_inline void depart(struct way *way, __u16 asked)
{
	way->latency = UNKNOWN;
	if (!(asked & (HOP_LATENCY | EGRESS_TIMESTAMP)))
		return;
	way->left_at = bpf_ktime_get_ns();
	way->latency = latency(way);
}

/* Where the metadata of the last hop begins, from the start of the frame. */
static __always_inline __u32 start_end(const struct packet *packet)
{
	return packet->shim + sizeof(struct shim) + sizeof(struct int_header);
}

/* Writes this hop's metadata into `head` in the order of the instructions; returns its sum. */
static __always_inline __u64 write_hop(struct packet *packet, const struct way *way, __u16 asked)
{
	struct hop hop = { .start = head_at(packet, start_end(packet)) };

	if (asked & NODE_ID)
		put32(&hop, way->config->node_id);
	if (asked & INTERFACES)
		put32(&hop, (__u32)(way->in ? way->in->id : 0xffff) << 16 | way->out->id);
	if (asked & HOP_LATENCY)
		put32(&hop, way->latency);
	if (asked & QUEUE_OCCUPANCY)
		put32(&hop, way->queue);
	if (asked & INGRESS_TIMESTAMP)
		put64(&hop, time_of_day(way, way->came_at));
	if (asked & EGRESS_TIMESTAMP)
		put64(&hop, time_of_day(way, way->left_at));
	if (asked & LEVEL2_INTERFACES) {
		put32(&hop, way->in ? way->in->level2_id : NOT_AVAILABLE);
		put32(&hop, way->out->level2_id);
	}
	if (asked & EGRESS_UTILIZATION)
		put32(&hop, NOT_AVAILABLE);
	if (asked & BUFFER_OCCUPANCY)
		put32(&hop, NOT_AVAILABLE);
	if (asked & CHECKSUM_COMPLEMENT)
		put32(&hop, NOT_AVAILABLE);
	return hop.sum;
}

/* Corrects the L4 checksum for removed and added words, and for `grown` bytes. */
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

/* Corrects lengths and checksums for `length` bytes, with this sum, that are removed. */
static __always_inline void shorten(struct packet *packet, __u64 sum, __u32 length)
{
	if (packet->protocol == IPPROTO_TCP)
		tcp(packet)->check = corrected(tcp(packet)->check, sum + bpf_htons(length), 0);
	else if (packet->protocol == IPPROTO_UDP)
		udp(packet)->check = corrected_udp(udp(packet)->check, sum + 2 * bpf_htons(length), 0);
	grow_lengths(packet, -length);
}

/* The sum of the words that a hop changes: the shim, or the option's header, and the next one. */
static __always_inline __u64 sum_of_start(const struct shim *shim)
{
	const __be32 *words = (const __be32 *)shim;

	return (__u64)words[0] + words[1];
}

/* Sets E or M in `head`, and nothing else. */
static __noinline int set_flag(struct packet *packet, __u8 flag, enum count outcome)
{
	struct shim *shim = head_at(packet, packet->shim);
	struct int_header *header = (struct int_header *)(shim + 1);
	__u64 removed = sum_of_start(shim);

	header->version_flags |= flag;
	correct_l4(packet, removed, sum_of_start(shim), 0);
	return outcome;
}

static __always_inline struct int_header *header_of(const struct packet *packet)
{
	struct shim *shim = head_at(packet, packet->shim);

	return (struct int_header *)(shim + 1);
}

/* Writes `head` into the packet, from the IP header to byte `end`. */
static __always_inline int write_back(struct __sk_buff *skb, struct packet *packet, __u32 end, __u64 flags)
{
	__u32 length = end - L3;

	APART(length);
	if (length == 0 || length > HEAD_BYTES + MAX_HOP_BYTES - L3)
		return -1;
	return bpf_skb_store_bytes(skb, L3, packet->head + L3, length, flags);
}

/* What is read of most packets, and a hop's metadata. */
#define MAX_HEAD_WORDS ((NEAR_BYTES + MAX_HOP_BYTES) / sizeof(__u64))

/* Writes `head` up to byte `end` by words, which takes less time than a call. Returns success. */
static __always_inline int write_words(void *data, const void *data_end, const struct packet *packet, __u64 end)
{
	const __u64 *from = (const __u64 *)packet->head;
	__u64 last = end - sizeof(__u64);
	__u64 *to = data;

#pragma unroll
	for (__u32 i = 0; i < MAX_HEAD_WORDS; i++) {
		if ((i + 1) * sizeof(__u64) > end)
			break;
		if ((const void *)(to + i + 1) > data_end)
			return 0;
		to[i] = from[i];
	}
	/* The last word overlaps the one before it, as headers are not multiples of it. */
	APART(last);
	if (last > (MAX_HEAD_WORDS - 1) * sizeof(__u64) || data + last + sizeof(__u64) > data_end)
		return 0;
	*(__u64 *)(data + last) = *(const __u64 *)(packet->head + last);
	return 1;
}

/* The bytes of this hop's metadata. */
static __always_inline __u32 grown_bytes(const struct packet *packet)
{
	return (__u32)header_of(packet)->hop_ml * 4;
}

/* The header of the Geneve option with INT, in place of a shim. */
static __always_inline struct geneve_option *geneve_option(const struct packet *packet)
{
	return head_at(packet, packet->shim);
}

/* The first two bytes of the Geneve header: version, words of options, flags. */
static __always_inline __u8 *geneve_header(const struct packet *packet)
{
	return head_at(packet, packet->l4 + sizeof(struct udphdr));
}

/* Words of INT behind the shim. */
static __always_inline __u32 int_words(const struct packet *packet, const struct config *config)
{
	const struct shim *shim = head_at(packet, packet->shim);

	return config->kind == KIND_GENEVE ? geneve_option(packet)->length & GENEVE_LENGTH : shim->length;
}

/* Whether the fields that count INT's words can hold `words` more. */
static __always_inline int may_grow(const struct packet *packet, const struct config *config, __u32 words)
{
	words += int_words(packet, config);
	if (config->kind != KIND_GENEVE)
		return words <= 0xff;
	return words <= GENEVE_LENGTH && (geneve_header(packet)[0] & GENEVE_OPTIONS) + words -
						 int_words(packet, config) <= MAX_GENEVE_OPTIONS_WORDS;
}

/* Whether the engine has to do what the header requests. */
static __always_inline int is_engines(const struct packet *packet, const struct config *config)
{
	const struct shim *shim = head_at(packet, packet->shim);
	const struct int_header *header = (const struct int_header *)(shim + 1);
	__u16 asked = bpf_ntohs(header->instructions);
	__u32 words = header->hop_ml;

	if (config->flags & INT_TO_ENGINE)
		return 1;
	if (packet->shim + sizeof(*shim) + sizeof(*header) > HEAD_BYTES - 4)
		return 1;
	if ((header->version_flags & 1) || header->reserved || header->domain_specific_id)
		return 1;
	if (!words || words != words_of(asked) || (asked & (__u16)~KNOWN_INSTRUCTIONS))
		return 1;
	if ((asked & CHECKSUM_COMPLEMENT) && (config->flags & KEEPS_COMPLEMENT))
		return 1;
	if (words > MAX_HOP_WORDS || !may_grow(packet, config, words))
		return 1;
	return (int_words(packet, config) - INT_WORDS) % words != 0;
}

/*
 * Adds this node's metadata, or sets a flag in the header: only in `head`, which the
 * caller writes into the packet. Returns what happened, of `enum count`, or ENGINE.
 */
static __always_inline int push_hop(struct packet *packet, const struct way *way)
{
	struct shim *shim = head_at(packet, packet->shim);
	struct int_header *header = (struct int_header *)(shim + 1);
	__u32 grown = grown_bytes(packet);
	__u32 length = packet->end - L3;
	__u64 removed, added;

	if (!header->remaining_hop_count)
		return set_flag(packet, FLAG_HOPS_EXCEEDED, HOPS_EXCEEDED);
	if (length + grown > way->out->mtu)
		return way->config->flags & RELIEVES ? ENGINE :
						       set_flag(packet, FLAG_MTU_EXCEEDED, MTU_EXCEEDED);
	removed = sum_of_start(shim);
	added = write_hop(packet, way, bpf_ntohs(header->instructions));
	if (way->config->kind == KIND_GENEVE) {
		removed += *(__be16 *)geneve_header(packet);
		geneve_option(packet)->length += header->hop_ml;
		geneve_header(packet)[0] += header->hop_ml;
		added += *(__be16 *)geneve_header(packet);
	} else {
		shim->length += header->hop_ml;
	}
	header->remaining_hop_count--;
	added += sum_of_start(shim);
	correct_l4(packet, removed, added, grown);
	grow_lengths(packet, grown);
	return PUSHED;
}
