/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The socket that a packet comes from. */
#pragma once

#include <linux/in.h>

#include "cast.h"

/* The packet's own TCP socket; null: it comes from another socket, or is forwarded. */
static __always_inline const struct inet_connection_sock *tcp_socket(struct __sk_buff *skb)
{
	const struct sock *sk = kernel_of(skb)->sk;

	if (!sk || sk->sk_protocol != IPPROTO_TCP)
		return 0;
	/* The kernel's mini-sockets before and after a connection are shorter. */
	switch (sk->__sk_common.skc_state) {
	case TCP_TIME_WAIT_STATE:
	case TCP_NEW_SYN_RECV_STATE:
	case TCP_LISTEN_STATE:
		return 0;
	}
	return CAST(struct inet_connection_sock, sk);
}

/* What the kernel keeps behind the packet's linear bytes. */
static __always_inline const struct skb_shared_info *shared_info(struct __sk_buff *skb)
{
	const struct sk_buff *packet = kernel_of(skb);

	return CAST(struct skb_shared_info, packet->head + packet->end);
}

/* Whether the application requested a timestamp of sending, which each device on the way would send. */
static __always_inline int is_timestamped(struct __sk_buff *skb)
{
	return shared_info(skb)->tx_flags & SKBTX_TIMESTAMPS;
}

/* Whether a UDP packet is a tunnel's super-packet: its segments are those of the packet in the tunnel. */
static __always_inline int is_tunnel_of_segments(struct __sk_buff *skb)
{
	__u32 type = skb->gso_size ? shared_info(skb)->gso_type : SKB_GSO_UDP_L4;

	return (type & (SKB_GSO_UDP_L4 | SKB_GSO_UDP_TUNNELS)) != SKB_GSO_UDP_L4;
}

/* Whether the connection has received nothing since a timeout: INT may be what gets packets lost. */
static __always_inline int is_unanswered(struct __sk_buff *skb)
{
	const struct inet_connection_sock *socket = tcp_socket(skb);

	return socket && socket->icsk_retransmits;
}
