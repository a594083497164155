// SPDX-License-Identifier: MIT OR Apache-2.0
// INT on this host's own packets, three classifiers: `steer` starts INT in single packets, and sends
// watched super-packets through the shim, where the kernel splits them into segments and completes
// checksums; `source` starts INT in these on the shim's far side; `sink` removes INT from incoming packets.

#include <stddef.h>

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "depart.h"
#include "handover.h"
#include "incoming.h"
#include "outgoing.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

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
	if (outcome == STARTED)
		skb->tc_index = departed_by(config->device);
	return outcome == NO_ROOM ? TC_ACT_SHOT : TCX_NEXT;
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
