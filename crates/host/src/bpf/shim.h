/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whether the shim accepts packets: those sent into a device that is gone or down are lost. */
#pragma once

#include "cast.h"
#include "scratch.h"

/* The kernel's devices by index, in lists of those whose index has the same remainder. */
#define INDEX_BUCKETS 256
/* Maximum number of devices searched in a list; packets get no INT where the shim is further down. */
#define MAX_LOOKED_AT 32

/* The device with this index in the network namespace of the packet's own; null: not found. */
static __always_inline const struct net_device *device_by_index(struct __sk_buff *skb, __u32 index)
{
	const struct hlist_head *buckets = kernel_of(skb)->dev->nd_net.net->dev_index_head;
	const struct hlist_node *node;

	if (!buckets || !index)
		return 0;
	node = CAST(struct hlist_head, buckets + index % INDEX_BUCKETS)->first;
	for (int i = 0; node && i < MAX_LOOKED_AT; i++) {
		const struct net_device *device = CAST(
			struct net_device, (void *)node - bpf_core_field_offset(struct net_device, index_hlist));

		if (device->ifindex == (int)index)
			return device;
		node = node->next;
	}
	return 0;
}

/*
 * Whether the device forwards what enters it: it has no queue, or a real one. The
 * kernel adds that some time after the carrier is up, and until then drops everything.
 */
static __always_inline int takes_packets(const struct net_device *device)
{
	const struct Qdisc *qdisc = device->_tx->qdisc;

	return qdisc && (!qdisc->enqueue || !(qdisc->flags & TCQ_F_BUILTIN));
}

/* Whether the near side of the shim is up and ready; its carrier indicates that the far side is up. */
VERIFIED_ONCE int shim_is_up(struct __sk_buff *skb, const struct config *config)
{
	const struct net_device *near = config ? device_by_index(skb, config->shim_in) : 0;
	unsigned long state;

	if (!near)
		return 0;
	state = near->state;
	return (state & LINK_STATE_START) && !(state & LINK_STATE_NOCARRIER) && takes_packets(near);
}
