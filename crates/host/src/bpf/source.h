/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Insertion of INT into a packet of this host. */
#pragma once

#include "find.h"
#include "headers.h"
#include "hop.h"
#include "host_int.h"
#include "int.h"
#include "sequence.h"

/* The layout of the inserted bytes. */
struct insertion {
	/* Where the gap is, and how many bytes of it precede the shim. */
	__u32 at;
	__u32 outer;
	/* The words behind the shim. */
	__u32 int_words;
	/* Whether the host's own metadata is included, and whether it did not fit. */
	__u8 own;
	__u8 mtu_exceeded;
};

static __always_inline __u32 growth_of(const struct insertion *insertion)
{
	return insertion->outer + sizeof(struct shim) + insertion->int_words * 4;
}

/* Whether INT fits into the packet, which ends at `end` without it. */
static __always_inline int fits(const struct packet *packet, const struct insertion *insertion, __u32 end)
{
	__u32 length = end - L3 + growth_of(insertion);
	__u32 most = packet->version == 6 ? 0xffff + sizeof(struct ipv6hdr) : 0xffff;

	return length <= packet->mtu && length <= most;
}

/* A checksum of all ones is a zero that an incremental update would not reproduce. */
static __always_inline int is_ambiguous(const struct packet *packet)
{
	if (packet->version == 4 && ipv4(packet)->check == 0xffff)
		return 1;
	return packet->protocol == IPPROTO_TCP && tcp(packet)->check == 0xffff;
}

/* Whether the packet's protocols can carry this domain's INT. */
static __always_inline int can_carry(const struct packet *packet, const struct config *config)
{
	if (!has_ports(packet->protocol) ||
	    (packet->protocol == IPPROTO_TCP && config->carriage == BEHIND_UDP_BY_PORT))
		return 0;
	/* What goes to INT's port looks like INT to a sink, which would remove it together with ours. */
	if (config->carriage != BEHIND_L4_BY_DSCP && packet->protocol == IPPROTO_UDP &&
	    udp(packet)->dest == bpf_htons(config->udp_port))
		return 0;
	/* Host-INT supports IPv4 without options. */
	return config->version != VERSION_HOST_INT ||
	       (packet->version == 4 && packet->l4 == L3 + sizeof(struct iphdr));
}

/* The minimum number of words behind the shim. */
static __always_inline __u32 least_words(const struct config *config)
{
	return config->version == VERSION_HOST_INT ? HOST_INT_WORDS : INT_WORDS;
}

/* Decides which INT header and metadata fit; returns the outcome that ends the work, or 0. */
static __always_inline int make_fit(const struct packet *packet, const struct config *config,
				    struct insertion *insertion)
{
	int wants_own = config->mode == MODE_MD && config->own_metadata && config->remaining_hops &&
			config->hop_words && config->hop_words <= MAX_HOP_WORDS;

	insertion->int_words = least_words(config);
	insertion->own = 0;
	insertion->mtu_exceeded = 0;
	if (!fits(packet, insertion, packet->end))
		return NOT_STARTED_MTU;
	/* Host-INT carries the source's complete hop or none. */
	if (!wants_own || config->version == VERSION_HOST_INT)
		return 0;
	insertion->int_words += config->hop_words;
	insertion->own = 1;
	if (fits(packet, insertion, packet->end))
		return 0;
	insertion->int_words = INT_WORDS;
	insertion->own = 0;
	insertion->mtu_exceeded = 1;
	return 0;
}

/* Decides where INT goes; returns the outcome that ends the work, or 0. */
static __always_inline int plan(const struct packet *packet, const struct config *config,
				struct insertion *insertion)
{
	if (!can_carry(packet, config))
		return NOT_CARRIED;
	if (is_ambiguous(packet))
		return NOT_STARTED_CHECKSUM;
	insertion->at = payload_at(packet, config);
	insertion->outer = 0;
	if (config->carriage == BEHIND_NEW_UDP) {
		insertion->at = packet->l4;
		insertion->outer = sizeof(struct udphdr);
	}
	return make_fit(packet, config, insertion);
}

static __always_inline __u32 mix(__u32 state, const void *bytes, __u32 length)
{
	for (__u32 i = 0; i < length; i++)
		state = (state ^ ((const __u8 *)bytes)[i]) * 0x01000193;
	return state;
}

/* A number that spreads flows over paths: FNV-1a over the five-tuple, and a finishing round. */
static __always_inline __u32 entropy(const struct packet *packet)
{
	__u32 state = 0x811c9dc5;

	if (packet->version == 4)
		state = mix(state, &ipv4(packet)->saddr, 2 * sizeof(__be32));
	else
		state = mix(state, &ipv6(packet)->saddr, 2 * sizeof(struct in6_addr));
	state = mix(state, &packet->protocol, sizeof(packet->protocol));
	state = mix(state, udp(packet), 2 * sizeof(__be16));
	state ^= state >> 16;
	state *= 0x85ebca6b;
	return state ^ state >> 13;
}

/* Writes the shim with what the source changes. */
static __always_inline void write_shim(struct shim *shim, const struct packet *packet,
				       const struct config *config, const struct insertion *insertion)
{
	__u8 type = config->mode == MODE_MX ? TYPE_MX : TYPE_MD;
	__u8 npt = NPT_PAYLOAD;
	__be16 original = bpf_htons(packet->dscp << 2);

	if (config->carriage == BEHIND_UDP_BY_PORT) {
		npt = NPT_UDP_PAYLOAD;
		original = udp(packet)->dest;
	} else if (config->carriage == BEHIND_NEW_UDP) {
		npt = NPT_L4_HEADER;
		original = bpf_htons(packet->protocol);
	}
	shim->type_npt = type << 4 | npt << 2;
	shim->length = insertion->int_words;
	shim->original = original;
}

static __always_inline void write_header(struct int_header *header, const struct config *config,
					 const struct insertion *insertion)
{
	__builtin_memset(header, 0, sizeof(*header));
	header->version_flags = INT_VERSION << 4;
	if (config->discard)
		header->version_flags |= FLAG_DISCARD;
	if (insertion->mtu_exceeded)
		header->version_flags |= FLAG_MTU_EXCEEDED;
	header->instructions = bpf_htons(config->instructions);
	if (config->mode == MODE_MX)
		return;
	header->hop_ml = config->hop_words;
	header->remaining_hop_count = config->remaining_hops - insertion->own;
}

/* Writes shim, INT header and the host's own hop to `out`. */
static __always_inline void write_int(__u8 *out, const struct packet *packet, const struct config *config,
				      const struct insertion *insertion, const struct hop *hop)
{
	struct shim *shim = (struct shim *)out;
	struct int_header *header = (struct int_header *)(shim + 1);

	write_shim(shim, packet, config, insertion);
	write_header(header, config, insertion);
	if (insertion->own)
		write_hop((__u8 *)(header + 1), config, hop);
}

/* Adds a new UDP header before INT, without a checksum. */
static __always_inline void carry_in_new_udp(struct udphdr *outer, struct packet *packet,
					     const struct config *config, __s32 growth)
{
	/* In the dynamic range; for Host-INT the packet's own. */
	__be16 source_port = config->version == VERSION_HOST_INT
				     ? udp(packet)->source
				     : bpf_htons(0xc000 | (entropy(packet) & 0x3fff));

	resize_ip(packet, growth);
	set_protocol(packet, IPPROTO_UDP);
	outer->source = source_port;
	outer->dest = bpf_htons(config->udp_port);
	outer->len = bpf_htons(packet->end - packet->l4);
	outer->check = 0;
}

/* Compensates a change in the last word of the host's own hop, ending at `end`; the sum has it as 0. */
static __always_inline void complement_l4(__u8 *end, const struct packet *packet, const struct change *change)
{
	if (packet->protocol == IPPROTO_UDP && !udp(packet)->check)
		return;
	((__be16 *)end)[-2] = 0;
	((__be16 *)end)[-1] = ~fold(change->added + less(change->removed));
}

/* Marks a packet with the INT at `shim` behind its own L4 header, and corrects its checksum. */
static __always_inline void carry_behind_l4(__u8 *shim, struct packet *packet, const struct config *config,
					    const struct insertion *insertion)
{
	__u32 growth = growth_of(insertion);
	struct change change = { .added = sum_of(shim, growth), .grown = growth };

	if (config->carriage == BEHIND_UDP_BY_PORT) {
		change.removed = udp(packet)->dest;
		change.added += bpf_htons(config->udp_port);
		udp(packet)->dest = bpf_htons(config->udp_port);
	} else {
		set_dscp(packet, (packet->dscp & ~config->dscp_mask) | (config->dscp & config->dscp_mask));
	}
	resize_ip(packet, growth);
	resize_udp(packet, growth);
	add_lengths(packet, &change);
	asm volatile("" : "+r"(growth));
	if (config->complement && insertion->own && growth >= sizeof(struct shim) && growth <= HEAD_BYTES)
		complement_l4(shim + growth, packet, &change);
	else
		correct_l4(packet, &change);
}

/* Writes INT of the domain's version into the gap, before anything else in the packet changes. */
VERIFIED_ONCE int write_version(struct packet *packet, const struct config *config,
				const struct insertion *insertion, const struct hop *hop, __u32 number)
{
	__u8 *out;

	if (!packet || !config || !insertion || !hop)
		return 0;
	out = head_at(packet, insertion->at + insertion->outer);
	if (config->version == VERSION_HOST_INT)
		write_host_int(out, config, hop, number, insertion->outer ? packet->protocol : 0);
	else
		write_int(out, packet, config, insertion, hop);
	return 0;
}

/* Writes INT into the gap, and changes the headers before it; `number` is the packet's for Host-INT. */
static __always_inline void fill_gap(struct packet *packet, const struct config *config,
				     const struct insertion *insertion, const struct hop *hop,
				     __u32 number)
{
	__u8 *gap = head_at(packet, insertion->at);

	write_version(packet, config, insertion, hop, number);
	if (config->carriage == BEHIND_NEW_UDP)
		carry_in_new_udp((struct udphdr *)gap, packet, config, growth_of(insertion));
	else
		carry_behind_l4(gap, packet, config, insertion);
}

/* Inserts INT into the packet; returns the outcome. */
static __always_inline int start_int(struct __sk_buff *skb, struct packet *packet,
				     const struct config *config, const struct hop *hop)
{
	struct insertion insertion = {};
	struct flow flow;
	__u32 number = 0;
	int fault = plan(packet, config, &insertion);

	if (fault)
		return fault;
	if (insertion.at > MAX_HEADERS)
		return MALFORMED;
	if (config->version == VERSION_HOST_INT) {
		flow_of(packet, &flow);
		number = take_number(&flow);
	}
	fill_gap(packet, config, &insertion, hop, number);
	if (!move_headers(skb, packet, growth_of(&insertion), insertion.at + growth_of(&insertion)))
		return STARTED;
	if (config->version == VERSION_HOST_INT)
		give_back_number(&flow);
	return NO_ROOM;
}

/* Clears a DSCP that marks INT from a packet without INT: such a packet must not enter the domain. */
static __always_inline int unmark(struct __sk_buff *skb, struct packet *packet, const struct config *config)
{
	if (config->carriage != BEHIND_L4_BY_DSCP || !packet->version || !marks_int(packet->dscp, config))
		return 0;
	set_dscp(packet, packet->dscp & ~config->dscp_mask);
	return !bpf_skb_store_bytes(skb, L3, packet->head + L3, sizeof(struct iphdr), BPF_F_RECOMPUTE_CSUM);
}
