// SPDX-License-Identifier: MIT OR Apache-2.0
// INT on this host's own packets, three classifiers: `steer` sends watched packets through the shim, where
// the kernel cuts them into segments and completes checksums; `source` starts INT in them on the shim's far
// side; `sink` takes INT out of what comes in.

#include <stddef.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "events.h"
#include "find.h"
#include "sink.h"
#include "source.h"
#include "watch.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline __u64 agent_time(const struct config *config)
{
	return bpf_ktime_get_ns() + config->clock_offset;
}

/* Counts what became of a packet, and unmarks it where INT was not started. */
static __always_inline void conclude(struct __sk_buff *skb, struct packet *packet,
				     const struct config *config, int outcome)
{
	count(outcome);
	if (outcome != STARTED && outcome != ALREADY_INT && unmark(skb, packet, config))
		count(REMARKED);
}

/* Egress of the device that leads into the domain. */
SEC("classifier")
int steer(struct __sk_buff *skb)
{
	struct config *config = configuration();
	struct packet packet = {};
	struct location location;
	int outcome;

	if (!config || (config->shim_out && skb->ingress_ifindex == config->shim_out))
		return TC_ACT_OK;
	outcome = read_packet(skb, &packet);
	if (!outcome) {
		if (find_int(&packet, config, &location)) {
			outcome = ALREADY_INT;
		} else if (is_watched(&packet)) {
			count(STEERED);
			return bpf_redirect(config->shim_in, 0);
		} else {
			outcome = NOT_WATCHED;
		}
	}
	conclude(skb, &packet, config, outcome);
	return TC_ACT_OK;
}

/* Ingress of the shim's far side: every watched packet, one segment each. */
SEC("classifier")
int source(struct __sk_buff *skb)
{
	struct config *config = configuration();
	struct packet packet = {};
	struct location location;
	struct hop hop = { .queue = NOT_AVAILABLE };
	int outcome;

	if (!config)
		return TC_ACT_OK;
	hop.ingress_timestamp = agent_time(config);
	hop.egress_timestamp = hop.ingress_timestamp;
	outcome = read_packet(skb, &packet);
	if (!outcome) {
		if (find_int(&packet, config, &location))
			outcome = ALREADY_INT;
		else if (!is_watched(&packet))
			outcome = NOT_WATCHED;
		else if (skb->gso_size)
			outcome = SEGMENTS;
		else
			outcome = start_int(skb, &packet, config, &hop);
	}
	conclude(skb, &packet, config, outcome);
	return bpf_redirect(config->device, 0);
}

/* Ingress of the device that leads out of the domain. */
SEC("classifier")
int sink(struct __sk_buff *skb)
{
	struct config *config = configuration();
	struct packet packet = {};
	struct location location;
	int outcome;

	if (!config)
		return TC_ACT_OK;
	outcome = read_packet(skb, &packet);
	if (!outcome && !find_int(&packet, config, &location))
		outcome = NO_INT;
	if (!outcome) {
		__u64 now = agent_time(config);

		if (is_due(&packet, config, now, 0))
			tell(skb, &packet, now);
		outcome = strip_int(skb, &packet, config, &location);
	}
	count(outcome);
	return outcome == DISCARDED ? TC_ACT_SHOT : TC_ACT_OK;
}
