/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Probes of other agents, and the packets which prove that a probe took the path of its flow. */
#pragma once

#include "events.h"
#include "limit.h"
#include "peer.h"
#include "sink.h"

/* The start of a message between agents: "INBL". */
#define PROBE_MAGIC bpf_htonl(0x494e424c)

/* Maximum number of awaited flows; the agent, which writes them, computes places in the same way. */
#define MAX_WITNESSES 4096

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_WITNESSES);
	__type(key, __u32);
	__type(value, struct witness);
} WITNESSES SEC(".maps");

/* The count of incoming packets with INT of the flow at each place; the agent knows since when. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_WITNESSES);
	__type(key, __u32);
	__type(value, __u64);
} ARRIVED SEC(".maps");

/* The byte of a TCP header whose upper half is the length of the header, words. */
#define TCP_OFFSET_AT 12

/* Length of the TCP header at `at`, which long INT may move out of what is visible; 0: it is cut. */
static __always_inline __u32 tcp_header_bytes(struct __sk_buff *skb, __u32 at)
{
	__u8 offset = 0;

	bpf_skb_load_bytes(skb, at + TCP_OFFSET_AT, &offset, sizeof(offset));
	return (offset >> 4) * 4;
}

/* Where the payload of a packet with INT begins. */
static __always_inline __u32 payload_behind_int(struct __sk_buff *skb, const struct packet *packet,
						const struct location *location)
{
	if (location->at == location->shim)
		return location->end + (packet->behind_l4 - location->shim);
	if (original_protocol(packet, location) == IPPROTO_TCP)
		return location->end + tcp_header_bytes(skb, location->end);
	return location->end + sizeof(struct udphdr);
}

/* Whether a message between agents begins at `at`. */
VERIFIED_ONCE int is_message(struct __sk_buff *skb, __u32 at)
{
	__be32 magic = 0;

	return !bpf_skb_load_bytes(skb, at, &magic, sizeof(magic)) && magic == PROBE_MAGIC;
}

static __always_inline __u32 place_of_witness(const struct flow *flow)
{
	const __u32 *source = (const __u32 *)flow->source.address;
	const __u32 *destination = (const __u32 *)flow->destination.address;
	__u32 mixed = source[3] ^ destination[3] ^ *(const __u32 *)&flow->source_port;

	mixed ^= mixed >> 16;
	return (mixed ^ mixed >> 8) % MAX_WITNESSES;
}

/* Passes a probe, whose INT is removed, to the agent; returns the outcome. */
static __always_inline int hand_in_probe(struct __sk_buff *skb, __u32 place)
{
	const __u64 *arrived = bpf_map_lookup_elem(&ARRIVED, &place);
	__u64 now = bpf_ktime_get_ns();
	int outcome = is_within(LIMIT_PROBES, now) ? PROBE : PROBE_SHED;
	__u8 no_version = 0;

	if (outcome == PROBE)
		tell(skb, now, EVENT_PROBE, NOT_AVAILABLE, arrived ? *arrived : 0);
	/* It ends here, and its drop must not be reported as a loss of its flow. */
	bpf_skb_store_bytes(skb, L3, &no_version, sizeof(no_version), 0);
	return outcome;
}

/* The flow of a packet whose L4 header is at `l4`. */
static __always_inline void flow_at(const struct packet *packet, __u32 l4, __u8 protocol, struct flow *flow)
{
	const struct udphdr *ports = head_at(packet, l4);

	addresses(packet, &flow->source, &flow->destination);
	*(__be32 *)&flow->source_port = *(const __be32 *)&ports->source;
	flow->protocol = protocol;
}

/* Records that a packet of `flow` has come in by `device`, with INT or without. */
static __always_inline void bear_witness(const struct flow *flow, __u32 device, int had_int)
{
	__u32 place = place_of_witness(flow);
	struct witness *witness = bpf_map_lookup_elem(&WITNESSES, &place);
	__u64 *arrived;

	if (!witness || witness->flow.protocol != flow->protocol || witness->device != device ||
	    !is_same_flow(&witness->flow, flow))
		return;
	if (!witness->seen)
		witness->seen = 1;
	if (!had_int)
		return;
	arrived = bpf_map_lookup_elem(&ARRIVED, &place);
	if (arrived)
		__sync_fetch_and_add(arrived, 1);
}
