/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The treatment of incoming packets: their INT is removed, and messages between agents are handed in. */
#pragma once

#include "answer.h"
#include "apart.h"
#include "conclude.h"
#include "events.h"
#include "path_mtu.h"
#include "probe.h"
#include "sink.h"
#include "watch.h"

/* Removes INT from a packet that has it; returns the outcome. The host does not receive probes. */
static __always_inline int end_int(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				   struct location *location, int *is_probe)
{
	struct prefix source, destination;

	*is_probe = location->discard && is_message(skb, payload_behind_int(skb, packet, location));
	addresses(packet, &source, &destination);
	/* INT from strangers is passed unchanged. */
	if (*is_probe ? !peer_at(&source) : !may_send_int(&source))
		return STRANGER;
	/* Segments that were merged have lost where INT was in each of them. */
	if (skb->gso_size)
		return take_apart(skb, packet, config) ? TAKEN_APART : SEGMENTS;
	if (*is_probe)
		location->discard = 0;
	else
		tell_if_due(skb, packet, config, EVENT_ARRIVED);
	return strip_int(skb, packet, config, location);
}

/* Whether a packet must not reach the host: its metadata would be mistaken for application data. */
static __always_inline int is_spoilt(int outcome)
{
	return outcome == DISCARDED || outcome == SEGMENTS || outcome == NO_ROOM || outcome == PROBE ||
	       outcome == PROBE_SHED || outcome == INT_TOO_BIG || outcome == ANSWER;
}

/* The ports before a UDP or TCP header's other fields. */
#define PORTS_BYTES 4

/* The flow of a packet whose INT is removed, or that had none. */
static __always_inline void flow_without_int(struct __sk_buff *skb, struct packet *packet,
					     const struct location *location, int outcome, struct flow *flow)
{
	__u8 protocol = packet->protocol;

	if (outcome == STRIPPED && location->at != location->shim) {
		protocol = original_protocol(packet, location);
		/* In the packet, the original header is where the one before INT was; its copy may end before. */
		if (bpf_skb_load_bytes(skb, packet->l4, head_at(packet, packet->l4), PORTS_BYTES))
			protocol = 0;
	}
	flow_at(packet, packet->l4, protocol, flow);
}

/* The outcome for a readable incoming packet. */
static __always_inline int judge_incoming(struct __sk_buff *skb, struct packet *packet,
					  const struct config *config)
{
	int outcome = NO_INT, is_probe = 0;
	struct location location = {};
	struct flow flow;

	if (carries_int(skb, packet, config, &location))
		outcome = end_int(skb, packet, config, &location, &is_probe);
	if (outcome == NO_INT && config->mode == MODE_XD && is_watched(packet)) {
		tell_if_due(skb, packet, config, EVENT_ARRIVED);
		return POSTCARD;
	}
	if (outcome == NO_INT && is_too_big_message(packet))
		return note_path_mtu(skb) ? INT_TOO_BIG : NO_INT;
	if (outcome == NO_INT && is_answer(skb, packet))
		return hand_in_answer(skb);
	if (outcome != STRIPPED && (outcome != NO_INT || !has_ports(packet->protocol)))
		return outcome;
	flow_without_int(skb, packet, &location, outcome, &flow);
	if (is_probe && outcome == STRIPPED)
		return hand_in_probe(skb, place_of_witness(&flow));
	bear_witness(&flow, config->device, outcome == STRIPPED);
	return outcome;
}

/* Handles an incoming packet, from the device or the shim, and counts its outcome; returns a verdict. */
VERIFIED_ONCE int receive(struct __sk_buff *skb)
{
	struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();
	int outcome, came_out = skb->tc_index == CAME_OUT;

	/* What a packet brings with it is of the host or container it comes from. */
	if (skb->tc_index)
		skb->tc_index = 0;
	if (!config || !packet)
		return TCX_NEXT;
	outcome = read_packet(skb, packet);
	if (!outcome && !came_out && follows_apart(skb, packet, config))
		outcome = TAKEN_APART;
	else if (!outcome)
		outcome = judge_incoming(skb, packet, config);
	count(outcome);
	if (outcome == TAKEN_APART)
		return bpf_redirect(config->shim_in, 0);
	return is_spoilt(outcome) ? TC_ACT_SHOT : TCX_NEXT;
}

/* Returns a packet that came in by the device, and was split in the shim, to where it came in. */
VERIFIED_ONCE int come_out(struct __sk_buff *skb)
{
	const struct config *config = configuration(skb);
	int verdict;

	if (!config)
		return TC_ACT_SHOT;
	verdict = receive(skb);
	if (verdict != TCX_NEXT)
		return verdict;
	skb->tc_index = CAME_OUT;
	return bpf_redirect(config->device, BPF_F_INGRESS);
}
