/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Answers of other agents about flows of containers, where no agent would receive them. */
#pragma once

#include "limit.h"
#include "probe.h"
#include "rules.h"

/* Whether it is an answer: agents send to their own port number only about flows of containers. */
static __always_inline int is_answer(struct __sk_buff *skb, const struct packet *packet)
{
	__u32 zero = 0;
	const struct rules *rules;

	if (packet->protocol != IPPROTO_UDP || udp(packet)->source != udp(packet)->dest)
		return 0;
	rules = bpf_map_lookup_elem(&RULES, &zero);
	return rules && rules->control_port && rules->control_port == udp(packet)->dest &&
	       is_message(skb, packet->behind_l4);
}

/* Passes an answer to the agent; returns the outcome. */
static __always_inline int hand_in_answer(struct __sk_buff *skb)
{
	__u64 now = bpf_ktime_get_ns();

	if (!is_within(LIMIT_ANSWERS, now))
		return PROBE_SHED;
	tell(skb, now, EVENT_ANSWER, NOT_AVAILABLE, 0);
	return ANSWER;
}
