/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The occupancy of the queue that a packet is about to enter. */
#pragma once

#include "int.h"
#include "maps.h"
#include "qdisc.h"

/* The state of a device's queue when a packet last came to it. */
struct queue_note {
	/* Queue id 0 and the occupancy in bytes; all ones: not available. */
	__u32 occupancy;
	/* Whether a packet may wait in it after its INT is written. */
	__u32 may_wait;
};

/* By interface index of the device. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_INTERFACES);
	__type(key, __u32);
	__type(value, struct queue_note);
} QUEUES SEC(".maps");

/* Records the queue of the device that this packet leaves by, if sources are asked for what depends on it. */
static __always_inline void note_queue(struct __sk_buff *skb, const struct config *config)
{
	struct queue_note note = { .occupancy = NOT_AVAILABLE };
	struct queue_note *noted;
	__u32 device = skb->ifindex;

	if (!(config->instructions & (QUEUE_OCCUPANCY | HOP_LATENCY)))
		return;
	if (config->instructions & QUEUE_OCCUPANCY)
		note.occupancy = root_queue(skb);
	note.may_wait = may_wait(skb);
	noted = bpf_map_lookup_elem(&QUEUES, &device);
	if (noted)
		*noted = note;
	else
		bpf_map_update_elem(&QUEUES, &device, &note, BPF_ANY);
}

/* The last recorded occupancy of the queue that leads into the domain. */
static __always_inline __u32 noted_queue(const struct config *config)
{
	const struct queue_note *noted;

	if (!(config->instructions & QUEUE_OCCUPANCY))
		return NOT_AVAILABLE;
	noted = bpf_map_lookup_elem(&QUEUES, &config->device);
	return noted ? noted->occupancy : NOT_AVAILABLE;
}

/* Whether packets may wait in that queue: the host's latency is then unknown. */
static __always_inline __u32 noted_wait(const struct config *config)
{
	const struct queue_note *noted;

	if (!(config->instructions & HOP_LATENCY))
		return 0;
	noted = bpf_map_lookup_elem(&QUEUES, &config->device);
	return noted ? noted->may_wait : 0;
}
