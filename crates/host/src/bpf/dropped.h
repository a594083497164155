/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The packet that the kernel dropped, parsed leniently: its headers may be the reason of the drop. */
#pragma once

#include "drops.h"
#include "departed.h"
#include "find.h"
#include "flow.h"
#include "lost.h"
#include "sink.h"

/* Maximum number of IPv6 extension headers that are skipped. */
#define MAX_EXTENSIONS 6

/* A packet's place on this host. */
struct place {
	__u32 namespace;
	/* Interface indexes; 0: none. */
	__u32 device;
	__u32 ingress_device;
	/* The device whose shim it has been in, modulo 16,384; 0: none. */
	__u32 departed_from;
	/* The packet's route as an error number; 0: no error. */
	__u16 route_error;
};

static __always_inline __u32 namespace_of(const struct net_device *device)
{
	return device ? BPF_CORE_READ(device, nd_net.net, ns.inum) : 0;
}

/* Reads the packet's place; `namespace` is 0 where it is unknown. */
static __always_inline void read_place(const struct sk_buff *skb, struct place *place)
{
	/* A socket stores other data in the field of the device, which cannot be followed. */
	const struct net_device *device = BPF_CORE_READ(skb, dev);
	const struct dst_entry *route = route_of(skb);

	place->route_error = error_of(route);
	place->ingress_device = BPF_CORE_READ(skb, skb_iif);
	place->departed_from = departed_from(BPF_CORE_READ(skb, tc_index));
	place->device = place->ingress_device;
	place->namespace = namespace_of(device);
	if (place->namespace) {
		place->device = BPF_CORE_READ(device, ifindex);
		return;
	}
	if (route)
		place->namespace = namespace_of(BPF_CORE_READ(route, dev));
	if (!place->namespace)
		place->namespace = BPF_CORE_READ(skb, sk, __sk_common.skc_net.net, ns.inum);
}

/* Copies the packet from its IP header on; there is no Ethernet header in front of it. */
static __always_inline int load_dropped(const struct sk_buff *skb, struct packet *packet)
{
	__u32 from = BPF_CORE_READ(skb, network_header);
	__u32 tail = BPF_CORE_READ(skb, tail);
	__u32 length = tail - from;

	if (tail < from)
		return DROP_MALFORMED;
	if (length > SAMPLE_BYTES)
		length = SAMPLE_BYTES;
	asm volatile("" : "+r"(length));
	if (length < sizeof(struct iphdr) || length > SAMPLE_BYTES)
		return DROP_MALFORMED;
	if (bpf_probe_read_kernel(packet->head + L3, length, BPF_CORE_READ(skb, head) + from))
		return DROP_MALFORMED;
	packet->visible = L3 + length;
	return 0;
}

/* Skips the extension headers of IPv6; returns whether the packet is a fragment. */
static __always_inline int skip_extensions(struct packet *packet)
{
	for (int i = 0; i < MAX_EXTENSIONS; i++) {
		const __u8 *header = head_at(packet, packet->l4);
		__u8 protocol = packet->protocol;

		if (packet->l4 + 8 > packet->visible)
			return 0;
		switch (protocol) {
		case IPPROTO_FRAGMENT:
			return 1;
		case IPPROTO_HOPOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_DSTOPTS:
		case IPPROTO_MH:
			packet->protocol = header[0];
			packet->l4 += 8 + header[1] * 8;
			break;
		default:
			return 0;
		}
	}
	return 0;
}

/* Reads the headers; returns the outcome that ends the work, or 0, and whether there is more than IP to read. */
static __always_inline int read_dropped(const struct sk_buff *skb, struct packet *packet, int *is_whole)
{
	int fault = load_dropped(skb, packet);

	if (fault)
		return fault;
	switch (BPF_CORE_READ(skb, protocol)) {
	case bpf_htons(ETH_P_IP):
		fault = read_ipv4(packet);
		break;
	case bpf_htons(ETH_P_IPV6):
		fault = read_ipv6(packet);
		if (fault == EXTENSION_HEADER)
			fault = skip_extensions(packet) ? FRAGMENT : 0;
		break;
	default:
		return DROP_NOT_IP;
	}
	if (fault == MALFORMED)
		return DROP_MALFORMED;
	*is_whole = !fault && !read_l4(packet);
	return 0;
}

/* Writes zeros where there are no ports, so that no older data is read there. */
static __always_inline void clear_ports(const struct packet *packet)
{
	int is_later = packet->version == 4 && (ipv4(packet)->frag_off & bpf_htons(0x1fff));

	if ((packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP) || is_later ||
	    packet->l4 + 2 * sizeof(__be16) > packet->visible)
		*(__u32 *)head_at(packet, packet->l4) = 0;
}

/* Whether no router may forward the packet. */
static __always_inline int ttl_used_up(const struct packet *packet)
{
	return (packet->version == 4 ? ipv4(packet)->ttl : ipv6(packet)->hop_limit) <= 1;
}

/* The flow of a packet as it was before INT was started in it. */
static __always_inline void flow_before_int(const struct packet *packet, const struct config *config,
					    const struct location *location, struct flow *flow)
{
	const struct shim *shim = head_at(packet, location->shim);
	const struct udphdr *inside = head_at(packet, location->end);

	flow_of(packet, flow);
	if (location->at == location->shim) {
		if (config->carriage == BEHIND_UDP_BY_PORT || config->carriage == BEHIND_NEW_UDP)
			flow->destination_port = shim->original;
		return;
	}
	flow->protocol = original_protocol(packet, location);
	if (location->end + 2 * sizeof(__be16) > packet->visible)
		return;
	flow->source_port = inside->source;
	flow->destination_port = inside->dest;
}
