/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How much waits in the queue that a packet is about to enter? */
#pragma once

#include <bpf/bpf_core_read.h>

#include "int.h"
#include "kernel.h"
#include "maps.h"

/* Queue id 0 and the occupancy in bytes, by the index of the device: as it was when a packet last came to the queue. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOST_INTERFACES);
	__type(key, __u32);
	__type(value, __u32);
} QUEUES SEC(".maps");

/* Most that an occupancy of 24 bits says. */
#define MOST_OCCUPANCY 0x00ffffff

/*
 * What waits in the root queue of the device a packet leaves by. Where there is no queue, several, or one whose numbers
 * are kept for each processor or in the device, nobody knows.
 */
static __always_inline __u32 root_queue(struct __sk_buff *skb)
{
	const struct Qdisc *qdisc = BPF_CORE_READ((struct sk_buff *)skb, dev, qdisc);
	__u32 backlog;

	if (!qdisc || !BPF_CORE_READ(qdisc, enqueue))
		return NOT_AVAILABLE;
	if (BPF_CORE_READ(qdisc, flags) & (TCQ_F_MQROOT | TCQ_F_CPUSTATS | TCQ_F_OFFLOADED))
		return NOT_AVAILABLE;
	backlog = BPF_CORE_READ(qdisc, qstats.backlog);
	return backlog < MOST_OCCUPANCY ? backlog : MOST_OCCUPANCY;
}

/* Notes what waits in the queue of the device this packet leaves by, if sources are asked for it. */
static __always_inline void note_queue(struct __sk_buff *skb, const struct config *config)
{
	__u32 device = skb->ifindex, queue, *noted;

	if (!(config->instructions & QUEUE_OCCUPANCY))
		return;
	queue = root_queue(skb);
	noted = bpf_map_lookup_elem(&QUEUES, &device);
	if (noted)
		*noted = queue;
	else
		bpf_map_update_elem(&QUEUES, &device, &queue, BPF_ANY);
}

/* What was last noted of the queue that leads into the domain. */
static __always_inline __u32 noted_queue(const struct config *config)
{
	__u32 *noted;

	if (!(config->instructions & QUEUE_OCCUPANCY))
		return NOT_AVAILABLE;
	noted = bpf_map_lookup_elem(&QUEUES, &config->device);
	return noted ? *noted : NOT_AVAILABLE;
}
