/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The occupancy of the queue that a packet is about to enter. */
#pragma once

#include "int.h"
#include "maps.h"
#include "qdisc.h"

/* The state of a device's queue when a packet last came to it. */
struct queue_note {
	/* The device's interface index. */
	__u32 device;
	/* Queue id 0 and the occupancy in bytes; all ones: not available. */
	__u32 occupancy;
	/* Whether a packet may wait in it after its INT is written. */
	__u32 may_wait;
};

/* `Programs` in Rust writes it as three words. */
_Static_assert(sizeof(struct queue_note) == 12, "size of struct queue_note");

/* At the device's interface index, modulo the size: of devices that share a place the last one is known. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_INTERFACES);
	__type(key, __u32);
	__type(value, struct queue_note);
} QUEUES SEC(".maps");

/* Records the queue of the device that this packet leaves by, if sources are asked for what depends on it. */
static __always_inline void note_queue(struct __sk_buff *skb, const struct config *config)
{
	__u32 device = skb->ifindex, place = device % MAX_INTERFACES;
	struct queue_note note = { .device = device, .occupancy = NOT_AVAILABLE };
	const struct Qdisc *queue;
	struct queue_note *noted;

	if (!(config->instructions & (QUEUE_OCCUPANCY | HOP_LATENCY)))
		return;
	queue = root_queue(skb);
	if (config->instructions & QUEUE_OCCUPANCY)
		note.occupancy = occupancy_of(queue);
	note.may_wait = may_wait_in(queue);
	noted = bpf_map_lookup_elem(&QUEUES, &place);
	if (noted)
		*noted = note;
}

/* The last recorded state of the queue that leads into the domain, as far as sources are asked for it. */
static __always_inline struct queue_note noted_queue(const struct config *config)
{
	struct queue_note note = { .occupancy = NOT_AVAILABLE };
	__u32 place = config->device % MAX_INTERFACES;
	const struct queue_note *noted;

	if (!(config->instructions & (QUEUE_OCCUPANCY | HOP_LATENCY)))
		return note;
	noted = bpf_map_lookup_elem(&QUEUES, &place);
	if (!noted || noted->device != config->device)
		return note;
	if (config->instructions & QUEUE_OCCUPANCY)
		note.occupancy = noted->occupancy;
	if (config->instructions & HOP_LATENCY)
		note.may_wait = noted->may_wait;
	return note;
}
