/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The largest packet that passes along the whole path to a destination, as far as this host knows. */
#pragma once

#include <bpf/bpf_core_read.h>

#include "headers.h"
#include "int.h"
#include "kernel.h"
#include "peer.h"
#include "socket.h"
#include "watch.h"

/* How long a path MTU announced by a router is believed, nanoseconds: as long as in the kernel. */
#define PATH_MTU_NS 600000000000ULL
/* The minimum path MTU that is believed: that of all IPv6 links, and the kernel's minimum for IPv4. */
#define MIN_MTU_IPV4 552U
#define MIN_MTU_IPV6 1280U

/* The layout of the quote in an ICMP message about a packet that was too large: its own header is 8 bytes. */
#define ICMP_HEADER_BYTES 8
#define ICMP_UNREACHABLE 3
#define ICMP_FRAGMENTATION_NEEDED 4
#define ICMPV6_TOO_BIG 2

struct path_mtu {
	/* Of the monotonic clock, nanoseconds. */
	__u64 until;
	__u32 mtu;
	__u32 padding;
};

/* Path MTUs announced by routers, by destination. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct prefix);
	__type(value, struct path_mtu);
} PATH_MTUS SEC(".maps");

static __always_inline __u32 min_mtu(const struct packet *packet)
{
	return packet->version == 4 ? MIN_MTU_IPV4 : MIN_MTU_IPV6;
}

/* The MTU in a route's metrics; 0: none. */
static __always_inline __u32 mtu_of_metrics(const struct dst_entry *route)
{
	unsigned long metrics = route->_metrics & ~DST_METRICS_FLAGS;

	return metrics ? CAST(struct dst_metrics, metrics)->metrics[RTAX_MTU - 1] : 0;
}

/* The path MTU that the kernel keeps in the packet's route; 0: none. */
static __always_inline __u32 mtu_of_route(struct __sk_buff *skb)
{
	unsigned long reference = kernel_of(skb)->_skb_refdst & ~SKB_DST_NOREF;
	const struct dst_entry *route = CAST(struct dst_entry, reference);
	__u32 mtu = 0;

	if (!reference)
		return 0;
	switch (route->ops->family) {
	case AF_INET:
		mtu = BPF_CORE_READ_BITFIELD(CAST(struct rtable, reference), rt_pmtu);
		if (mtu && (__s64)(bpf_jiffies64() - route->expires) < 0)
			return mtu;
		return mtu_of_metrics(route);
	case AF_INET6:
		mtu = mtu_of_metrics(route);
		return mtu ? mtu : CAST(struct rt6_info, reference)->rt6i_idev->cnf.mtu6;
	}
	return 0;
}

/* The path MTU that the packet's own TCP socket knows; 0: none. */
static __always_inline __u32 mtu_of_socket(struct __sk_buff *skb)
{
	const struct inet_connection_sock *socket = tcp_socket(skb);

	return socket ? socket->icsk_pmtu_cookie : 0;
}

/* The path MTU that a router has announced for the destination; 0: none. */
static __always_inline __u32 announced_mtu(const struct prefix *destination, __u64 now)
{
	const struct path_mtu *path = bpf_map_lookup_elem(&PATH_MTUS, destination);

	return path && now < path->until ? path->mtu : 0;
}

static __always_inline void lower_to(__u32 *mtu, __u32 other)
{
	if (other && other < *mtu)
		*mtu = other;
}

/* Path MTUs are rounded down to a multiple, which limits their number in handovers. */
#define MTU_STEP 16U

/* The largest packet that may leave for the destination, limited by the device and the known path MTU. */
static __always_inline __u32 path_mtu(struct __sk_buff *skb, const struct config *config,
				      const struct prefix *destination, __u64 now)
{
	__u32 mtu = config->mtu;

	lower_to(&mtu, mtu_of_route(skb));
	lower_to(&mtu, mtu_of_socket(skb));
	lower_to(&mtu, announced_mtu(destination, now));
	return mtu < config->mtu ? mtu & ~(MTU_STEP - 1) : mtu;
}

/* Whether the packet reports that another one was too large for a link; it carries no INT. */
static __always_inline int is_too_big_message(const struct packet *packet)
{
	const __u8 *icmp = head_at(packet, packet->l4);

	if (packet->l4 + ICMP_HEADER_BYTES > packet->visible)
		return 0;
	if (packet->version == 4)
		return packet->protocol == IPPROTO_ICMP && icmp[0] == ICMP_UNREACHABLE &&
		       icmp[1] == ICMP_FRAGMENTATION_NEEDED;
	return packet->version == 6 && packet->protocol == IPPROTO_ICMPV6 && icmp[0] == ICMPV6_TOO_BIG;
}

/* The destination of the quoted packet; returns 0 where the message does not quote the required header. */
static __always_inline int quoted_destination(struct __sk_buff *skb, const struct packet *packet,
					      struct prefix *destination)
{
	__u32 quote = packet->l4 + ICMP_HEADER_BYTES;
	__be32 address;

	destination->length = 8 * sizeof(destination->address);
	if (packet->version == 6)
		return !bpf_skb_load_bytes(skb, quote + offsetof(struct ipv6hdr, daddr), destination->address,
					   sizeof(destination->address));
	if (bpf_skb_load_bytes(skb, quote + offsetof(struct iphdr, daddr), &address, sizeof(address)))
		return 0;
	map_ipv4(destination, address);
	return 1;
}

/*
 * Whether the quoted packet is a datagram with INT. The kernel would report an error to its socket, although
 * the datagram was not too large without INT. TCP still receives the message, and lowers its path MTU.
 */
static __always_inline int quotes_int(struct __sk_buff *skb, const struct packet *packet, const struct config *config)
{
	__u32 quote = packet->l4 + ICMP_HEADER_BYTES, behind;
	__u8 header[sizeof(struct iphdr)];
	__u8 class, protocol;
	__be16 port;

	if (bpf_skb_load_bytes(skb, quote, header, sizeof(header)))
		return 0;
	if (packet->version == 4) {
		class = header[offsetof(struct iphdr, tos)];
		protocol = header[offsetof(struct iphdr, protocol)];
		behind = (header[0] & 0xf) * 4;
	} else {
		class = (header[0] << 8 | header[1]) >> 4;
		protocol = header[offsetof(struct ipv6hdr, nexthdr)];
		behind = sizeof(struct ipv6hdr);
	}
	if (protocol != IPPROTO_UDP)
		return 0;
	if (config->carriage == BEHIND_L4_BY_DSCP)
		return marks_int(class >> 2, config);
	return !bpf_skb_load_bytes(skb, quote + behind + offsetof(struct udphdr, dest), &port, sizeof(port)) &&
	       port == bpf_htons(config->udp_port);
}

/*
 * Records a router's path MTU. The kernel learns it from packets without INT only: with a new UDP header the
 * quote has no socket, and a connection that obeys gets INT on top. Returns whether the message ends here.
 */
VERIFIED_ONCE int note_path_mtu(struct __sk_buff *skb)
{
	const struct config *config = configuration(skb);
	struct packet *packet = packet_at_hand();
	struct prefix destination = {};
	struct path_mtu path = {};
	const __u8 *icmp;

	if (!config || !packet || read_packet(skb, packet) || !is_too_big_message(packet))
		return 0;
	icmp = head_at(packet, packet->l4);
	/* The next-hop MTU: the last 16 bits of the second word, or all of it. */
	path.mtu = icmp[6] << 8 | icmp[7];
	if (packet->version == 6)
		path.mtu |= icmp[4] << 24 | icmp[5] << 16;
	if (path.mtu < min_mtu(packet))
		path.mtu = min_mtu(packet);
	if (!quoted_destination(skb, packet, &destination) || !peer_at(&destination))
		return 0;
	path.until = bpf_ktime_get_ns() + PATH_MTU_NS;
	bpf_map_update_elem(&PATH_MTUS, &destination, &path, BPF_ANY);
	return quotes_int(skb, packet, config);
}
