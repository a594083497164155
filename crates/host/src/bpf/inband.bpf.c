// SPDX-License-Identifier: MIT OR Apache-2.0
// INT on this host's own packets, three classifiers: `steer` sends watched packets through
// the shim, where the kernel splits them into segments and completes checksums; `source`
// starts INT in them on the shim's far side; `sink` removes INT from incoming packets.

#include <stddef.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "answer.h"
#include "apart.h"
#include "cut.h"
#include "events.h"
#include "find.h"
#include "first.h"
#include "handover.h"
#include "load.h"
#include "path_mtu.h"
#include "probe.h"
#include "proof.h"
#include "queue.h"
#include "shim.h"
#include "sink.h"
#include "slices.h"
#include "socket.h"
#include "source.h"
#include "watch.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Passes the packet to the next programs and filters; any other verdict would end their chain. */
#define TCX_NEXT TC_ACT_UNSPEC

/* Of `__sk_buff.tstamp_type`: the time is of the monotonic clock. */
#define TIME_IS_MONOTONIC 1

/* The end of the last header that is read because of INT: with a new UDP header TCP is behind INT. */
static __always_inline __u32 end_of_headers(const struct location *location)
{
	return location->end + (location->at == location->shim ? 0 : sizeof(struct tcphdr));
}

/* Finds INT in a packet with the domain's mark. As much of INT is visible as the buffer holds. */
VERIFIED_ONCE int find_behind_mark(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				   struct location *location)
{
	if (!packet || !config || !location)
		return 0;
	if (packet->visible < packet->behind_l4 + MIN_INT)
		look_further(skb, packet);
	if (!find_int(packet, config, location))
		return 0;
	if (packet->visible < end_of_headers(location))
		look_further(skb, packet);
	return 1;
}

/* Whether a packet whose headers are read carries INT. */
static __always_inline int carries_int(struct __sk_buff *skb, struct packet *packet,
				       const struct config *config, struct location *location)
{
	return is_marked(packet, config) && find_behind_mark(skb, packet, config, location);
}

/* Counts the outcome of a packet, and unmarks it where INT was not started. */
static __always_inline void conclude(struct __sk_buff *skb, struct packet *packet,
				     const struct config *config, int outcome, __u64 packets)
{
	count_many(outcome, packets);
	if (outcome != STARTED && outcome != ALREADY_INT && unmark(skb, packet, config))
		count(REMARKED);
}

/* The number of packets on the wire that the kernel makes of this one. */
static __always_inline __u32 packets_of(const struct __sk_buff *skb, const struct packet *packet)
{
	__u32 size = skb->gso_size, payload = packet->end - packet->behind_l4;

	return size && payload > size ? (payload + size - 1) / size : 1;
}

/* Counts a watched packet as it will be on the wire, without INT. */
static __always_inline void count_watched(const struct packet *packet, __u32 packets)
{
	__u32 headers = packet->behind_l4 - L3;

	count_traffic(WATCHED, packets, packet->end - L3 + (__u64)(packets - 1) * headers);
}

/* A router may fragment the packet: INT would be only in its first fragment, which no sink searches. */
static __always_inline int may_be_cut(const struct packet *packet)
{
	return packet->version == 4 && !(ipv4(packet)->frag_off & bpf_htons(DONT_FRAGMENT));
}

/*
 * Whether INT fits into every packet on the wire: into TCP segments with the
 * configured room for all hops, into datagrams at least with its fixed part.
 */
static __always_inline int has_room(const struct __sk_buff *skb, const struct packet *packet,
				    const struct config *config)
{
	struct insertion least = {
		.outer = config->carriage == BEHIND_NEW_UDP ? sizeof(struct udphdr) : 0,
		.int_words = least_words(config),
	};
	__u32 end = skb->gso_size ? packet->behind_l4 + skb->gso_size : packet->end;

	if (packet->protocol == IPPROTO_TCP)
		return end - L3 + room_needed(config) <= packet->mtu;
	return fits(packet, &least, end);
}

/*
 * Whether a watched packet that begins a slice can have INT: 0, or why not. It has room
 * for it then, or its first segment has, of `*first` bytes, if that gets INT alone.
 */
static __always_inline int prepare(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				   const struct watched_flow *flow, __u64 now, __u32 *first)
{
	int fault;

	if (!agent_is_alive())
		return AGENT_SILENT;
	if (!shim_is_up(skb, config))
		return SHIM_DOWN;
	if (is_unanswered(skb))
		return UNANSWERED;
	if (is_timestamped(skb))
		return TIMESTAMPED;
	if (packet->protocol == IPPROTO_UDP && is_tunnel_of_segments(skb))
		return NOT_CARRIED;
	packet->mtu = path_mtu(skb, config, &flow->destination, now);
	lower_to(&packet->mtu, packet->proven_mtu);
	if (may_be_cut(packet) && packet->mtu > MIN_MTU_IPV4)
		packet->mtu = MIN_MTU_IPV4;
	*first = size_of_first(skb, packet, config);
	if (*first)
		return 0;
	fault = cut_segments(skb, packet, config);
	if (fault)
		return fault;
	return has_room(skb, packet, config) ? 0 : NOT_STARTED_MTU;
}

/* Stores in a packet that it gets INT behind the shim, or its first segment does: STEERED, or why not. */
static __always_inline int steer_packet(struct __sk_buff *skb, const struct packet *packet, __u32 first, __u64 now)
{
	if (!hand_over(skb, packet->mtu, first ? FIRST_GETS_INT : GETS_INT, first))
		return NOT_STARTED_CLASS;
	/* Removed when it leaves the shim; a time that is already set is the time to send. */
	if (!skb->tstamp)
		bpf_skb_set_tstamp(skb, now, BPF_SKB_TSTAMP_DELIVERY_MONO);
	return STEERED;
}

/* Whether the first segment that was sent into the shim has left it; no other packet of the flow can be inside. */
static __always_inline int has_left(const struct packet *packet)
{
	const struct sliced_flow *sliced;
	struct flow flow;

	flow_of(packet, &flow);
	sliced = bpf_map_lookup_elem(&SLICED_FLOWS, &flow);
	return sliced && !sliced->is_due;
}

/* Sends the first segment of a super-packet with INT; the others follow as one packet without. Returns a verdict. */
VERIFIED_ONCE int send_first(struct __sk_buff *skb, __u32 first, __u64 time)
{
	struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();
	int outcome = BETWEEN_SLICES;

	if (!config || !packet)
		return TCX_NEXT;
	bpf_clone_redirect(skb, config->shim_out, 0);
	/* It has left by now. The programs on its way have used the same memory. */
	config = configuration(skb);
	skb->tc_index = 0;
	bpf_skb_set_tstamp(skb, time, time ? BPF_SKB_TSTAMP_DELIVERY_MONO : BPF_SKB_TSTAMP_UNSPEC);
	if (!config || read_packet(skb, packet))
		return TCX_NEXT;
	if (has_left(packet))
		/* Where that fails, the receiver gets the first segment twice. */
		outcome = remove_first(skb, packet, first) == NO_ROOM ? NO_ROOM : BETWEEN_SLICES;
	else
		outcome = SHIM_DOWN;
	conclude(skb, packet, config, outcome, packets_of(skb, packet));
	return outcome == NO_ROOM ? TC_ACT_SHOT : TCX_NEXT;
}

/*
 * The treatment of a watched packet: STEERED, or why not. `changes` is
 * the number of changes before the watchlist was asked about it.
 */
static __always_inline int judge_watched(struct __sk_buff *skb, struct packet *packet,
					 const struct config *config, const struct watched_flow *watched,
					 __u32 changes, __u32 *first)
{
	struct sliced_flow *sliced;
	struct flow flow;
	__u64 now;
	int outcome;

	if (config->mode == MODE_XD) {
		tell_if_due(skb, packet, config, EVENT_LEAVES);
		return POSTCARD;
	}
	if (!can_carry(packet, config))
		return NOT_CARRIED;
	flow_of(packet, &flow);
	now = bpf_ktime_get_ns();
	if (!is_proven(skb, packet, &flow, now))
		return NO_LEASE;
	sliced = sliced_flow(&flow);
	if (!sliced)
		return NOT_STARTED_CLASS;
	outcome = begins_slice(sliced, config, now) ? prepare(skb, packet, config, watched, now, first)
						    : BETWEEN_SLICES;
	if (!outcome)
		outcome = steer_packet(skb, packet, *first, now);
	if (outcome == STEERED) {
		sliced->started = now;
		sliced->is_due = 1;
	}
	if (outcome == STEERED || outcome == BETWEEN_SLICES)
		keep_quiet(sliced, config, packet->renew_at, changes);
	return outcome;
}

/*
 * The treatment of a packet whose headers are read: STEERED, or why not. `*packets` is set to
 * their number on the wire if it is watched, and `*first` where its first segment gets INT alone.
 */
static __always_inline int judge(struct __sk_buff *skb, struct packet *packet, const struct config *config,
				 __u32 *packets, __u32 *first)
{
	/* Read first: a change while the watchlist is asked invalidates the answer. */
	__u32 changes = changes_so_far();
	struct location location = {};
	struct watched_flow flow;
	int outcome = BETWEEN_SLICES;

	if (carries_int(skb, packet, config, &location))
		return ALREADY_INT;
	if (!is_between_slices(packet, config)) {
		watched_flow(packet, &flow);
		if (!is_flow_watched(&flow))
			return NOT_WATCHED;
		note_queue(skb, config);
		outcome = judge_watched(skb, packet, config, &flow, changes, first);
	}
	*packets = *first ? packets_after(skb, packet, *first) : packets_of(skb, packet);
	count_watched(packet, *packets);
	return outcome;
}

/* Egress of the device that leads into the domain. */
SEC("classifier")
int steer(struct __sk_buff *skb)
{
	struct config *config = configuration(skb);
	struct packet *packet;
	__u32 packets = 1, first = 0;
	__u64 time;
	int outcome;

	if (!config)
		return TCX_NEXT;
	if (skb->tc_index == departed_by(config->device)) {
		note_queue(skb, config);
		return TCX_NEXT;
	}
	packet = packet_at_hand();
	if (!packet)
		return TCX_NEXT;
	time = skb->tstamp;
	outcome = read_packet(skb, packet);
	if (!outcome)
		outcome = judge(skb, packet, config, &packets, &first);
	if (outcome == STEERED) {
		count(STEERED);
		return first ? send_first(skb, first, time) : bpf_redirect(config->shim_in, 0);
	}
	conclude(skb, packet, config, outcome, packets);
	return outcome == NO_ROOM ? TC_ACT_SHOT : TCX_NEXT;
}

/* When the packet entered the shim, of the monotonic clock; `now` where that is unknown. */
static __always_inline __u64 entered_shim(struct __sk_buff *skb, __u64 now)
{
	__u64 entered;

	if (skb->tstamp_type != TIME_IS_MONOTONIC)
		return now;
	entered = skb->tstamp;
	if (!entered || entered > now)
		return now;
	/* A time in the past is no time to send. */
	bpf_skb_set_tstamp(skb, 0, BPF_SKB_TSTAMP_UNSPEC);
	return entered;
}

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

/* Starts INT in an outgoing packet; returns a verdict. */
VERIFIED_ONCE int depart(struct __sk_buff *skb)
{
	struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();
	struct location location = {};
	struct sliced_flow *sliced = 0;
	struct hop hop = {};
	struct flow flow;
	__u64 now, bytes = 0;
	int outcome, starts;

	if (!config || !packet)
		return TCX_NEXT;
	now = bpf_ktime_get_ns();
	hop.ingress_timestamp = entered_shim(skb, now) + config->clock_offset;
	hop.egress_timestamp = now + config->clock_offset;
	hop.queue = noted_queue(config);
	hop.may_wait = noted_wait(config);
	outcome = read_packet(skb, packet);
	if (!outcome) {
		bytes = packet->end - L3;
		flow_of(packet, &flow);
		sliced = bpf_map_lookup_elem(&SLICED_FLOWS, &flow);
		starts = leave_shim(sliced, flow.protocol, config);
		if (carries_int(skb, packet, config, &location))
			outcome = ALREADY_INT;
		/* Only packets that `steer` found on the watchlist enter a shim. */
		else if (!config->shim_out && !is_watched(packet))
			outcome = NOT_WATCHED;
		else if (!starts)
			outcome = BETWEEN_SLICES;
		else if (skb->gso_size)
			outcome = SEGMENTS;
		else {
			if (config->mode == MODE_MX)
				tell_if_due(skb, packet, config, EVENT_LEAVES);
			outcome = start_int(skb, packet, config, &hop);
		}
	}
	if (outcome == STARTED) {
		count_traffic(WITH_INT, 1, bytes);
		if (sliced)
			__sync_fetch_and_add(&sliced->with_int, 1);
	}
	conclude(skb, packet, config, outcome, 1);
	skb->tc_index = departed_by(config->device);
	return bpf_redirect(config->device, 0);
}

/* Makes a copy of a super-packet its first segment, and sends it into the shim again; returns a verdict. */
VERIFIED_ONCE int become_first(struct __sk_buff *skb, __u32 first)
{
	const struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();

	if (!config || !packet || keep_first(skb, packet, first) || !hand_over(skb, packet->mtu, GETS_INT, 0))
		return TC_ACT_SHOT;
	return bpf_redirect(config->shim_in, 0);
}

/* Egress of the shim's far side: every watched packet, one segment each, and packets to be split. */
SEC("classifier")
int source(struct __sk_buff *skb)
{
	const struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();
	__u32 errand, first = 0;

	if (!config || !packet)
		return TCX_NEXT;
	/* The kernel and other programs may send into a shim, too: that is not of the device. */
	if (config->shim_out && (!skb->tc_index || skb->tc_index >= MAX_HANDOVERS)) {
		count(NOT_STEERED);
		return TC_ACT_SHOT;
	}
	errand = take_over(skb, packet, config, &first);
	if (errand == COMES_IN)
		return come_out(skb);
	return errand == FIRST_GETS_INT ? become_first(skb, first) : depart(skb);
}

/* Ingress of the device that leads out of the domain. */
SEC("classifier")
int sink(struct __sk_buff *skb)
{
	return receive(skb);
}
