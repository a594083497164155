// SPDX-License-Identifier: MIT OR Apache-2.0
// INT in packets that Linux forwards. Two classifiers: `arrive` records when packets come in;
// `leave` adds metadata to INT-MD, which `write` writes into the packet, and passes what it
// cannot do itself to the engine. Before them, `forward` forwards INT-MD by the kernel's routes
// where nothing else has to be done.

#include <stddef.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "arrival.h"
#include "beside.h"
#include "extend.h"
#include "forward.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct config);
} CONFIG SEC(".maps");

/* The number of each interface by the index of its device. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} NUMBERS SEC(".maps");

/* The same without a hash, at the index modulo the size: of devices that share a place the last one is known. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_NEAR);
	__type(key, __u32);
	__type(value, __u32);
} NEAR SEC(".maps");

/*
 * By the number of the interface. An array is changed in place; the kernel gives the old place of a changed
 * hash entry to the next one at once, while a program may still read it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, struct port);
} PORTS SEC(".maps");

struct counts {
	__u64 of[COUNTS];
};

/* By the number of the interface. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, struct counts);
} COUNTERS SEC(".maps");

/* The devices by which packets may bypass the stack, by interface number. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} WAYS SEC(".maps");

static __always_inline struct counts *counts_of(const struct port *port)
{
	return bpf_map_lookup_elem(&COUNTERS, &port->number);
}

static __always_inline void count(const struct port *port, enum count what, __u64 many)
{
	struct counts *counts = counts_of(port);

	if (counts)
		counts->of[what] += many;
}

/* Counts packets of one direction, received or sent. */
static __always_inline void count_traffic(const struct port *port, enum count packets, __u64 many, __u64 bytes)
{
	struct counts *counts = counts_of(port);

	if (!counts)
		return;
	counts->of[packets] += many;
	counts->of[packets + 1] += bytes;
}

static __always_inline const struct port *port_of(__u32 device)
{
	__u32 place = device % MAX_NEAR;
	const __u32 *number = bpf_map_lookup_elem(&NEAR, &place);
	const struct port *port = number ? bpf_map_lookup_elem(&PORTS, number) : 0;

	if (port && port->device == device)
		return port;
	number = bpf_map_lookup_elem(&NUMBERS, &device);
	return number ? bpf_map_lookup_elem(&PORTS, number) : 0;
}

/* The number of packets that this one will be on a wire. */
static __always_inline __u32 packets(struct __sk_buff *skb)
{
	return skb->gso_segs ? skb->gso_segs : 1;
}

static __always_inline int is_ip(struct __sk_buff *skb)
{
	return skb->protocol == bpf_htons(ETH_P_IP) || skb->protocol == bpf_htons(ETH_P_IPV6);
}

/* Whether IP may follow tags or labels. */
static __always_inline int is_wrapped(struct __sk_buff *skb)
{
	switch (bpf_ntohs(skb->protocol)) {
	case ETH_P_8021Q:
	case ETH_P_8021AD:
	case ETH_P_MPLS_UC:
	case ETH_P_MPLS_MC:
		return 1;
	}
	return 0;
}

/*
 * Passes the packet to the engine; where that fails, INT does not leave by an edge. Apart
 * from the code of other packets, which should fit into the processor's cache.
 */
static __noinline int hand_over(struct __sk_buff *skb, const struct way *way, int may_leave)
{
	const struct Qdisc *queue = root_queue(skb);
	struct handed handed = {
		/* Unused addresses, so that no stack accepts it. */
		.destination = { 0x02, 'i', 'n', 'b', 's', 'w' },
		.source = { 0x02, 'i', 'n', 'b', 's', 'w' },
		.ethertype = bpf_htons(HANDED_ETHERTYPE),
		.magic = HANDED_MAGIC,
		.ingress = way->in ? skb->ingress_ifindex : 0,
		.egress = skb->ifindex,
		.came_at = way->came_at ? way->came_at + way->config->clock_offset : 0,
		.queue = occupancy_of(queue),
		.may_wait = may_wait_in(queue),
	};

	if (bpf_skb_change_head(skb, sizeof(handed), 0))
		goto failed;
	if (bpf_skb_store_bytes(skb, 0, &handed, sizeof(handed), 0))
		goto failed;
	count(way->out, TO_ENGINE, packets(skb));
	return bpf_redirect(way->config->engine_device, 0);
failed:
	count(way->out, may_leave ? NOT_HANDED : NOT_HANDED_DROPPED, 1);
	return may_leave ? TCX_NEXT : TCX_DROP;
}

/* The treatment of an outgoing packet. */
static __always_inline int decide(struct __sk_buff *skb, struct way *way)
{
	int is_at_edge = way->out->is_edge || (way->in && way->in->is_edge);
	const struct config *config = way->config;
	struct packet *packet;
	enum find found = UNSURE;
	__u32 zero = 0;
	int outcome;

	if (!is_ip(skb) && !is_wrapped(skb))
		return TCX_NEXT;
	packet = bpf_map_lookup_elem(&SCRATCH, &zero);
	if (!packet)
		return TCX_NEXT;
	if (is_ip(skb))
		found = find_in(skb, packet, config);
	/* The host's own packets get no INT here. */
	if ((config->flags & ALL_TO_ENGINE) && way->in)
		return hand_over(skb, way, found == PLAIN || !way->out->is_edge);
	if (found == PLAIN) {
		if (way->in && way->in->is_edge && (config->flags & STARTS_INT))
			return hand_over(skb, way, 1);
		return TCX_NEXT;
	}
	if (found == NOT_INT && !is_at_edge && !skb->gso_size) {
		count(way->out, MALFORMED, 1);
		return TCX_NEXT;
	}
	if (found != AT_SHIM || is_at_edge)
		return hand_over(skb, way, !way->out->is_edge);
	outcome = extend(skb, packet, way);
	if (outcome == ENGINE)
		return hand_over(skb, way, 1);
	if (outcome >= 0 && outcome < COUNTS)
		count(way->out, outcome, 1);
	return TCX_NEXT;
}

/* Ingress of an interface. */
SEC("classifier")
int arrive(struct __sk_buff *skb)
{
	const struct port *in = port_of(skb->ifindex);
	const struct config *config;
	struct packet *packet;
	__u32 zero = 0;
	__u64 came_at;
	int is_longer;

	if (!in)
		return TCX_NEXT;
	count_traffic(in, RECEIVED_PACKETS, packets(skb), skb->len);
	config = bpf_map_lookup_elem(&CONFIG, &zero);
	if (!is_ip(skb) || !config)
		return TCX_NEXT;
	is_longer = in->narrowest && skb->len > L3 + in->narrowest;
	if (!is_longer && !needs_time(skb, config, in))
		return TCX_NEXT;
	came_at = bpf_ktime_get_ns() & ~HAS_BESIDE;
	if (is_longer) {
		packet = bpf_map_lookup_elem(&SCRATCH, &zero);
		if (packet)
			came_at = put_beside(skb, packet, config, came_at);
		if (!came_at) {
			count(in, LOST_INT, 1);
			return TCX_DROP;
		}
	}
	/* A time for delivery stays with the packet through the stack; the egress reads and clears it. */
	bpf_skb_set_tstamp(skb, came_at, BPF_SKB_TSTAMP_DELIVERY_MONO);
	return TCX_NEXT;
}

/* Gives the packet its INT back, which is beside it. Returns a verdict on the packet. */
static __noinline int complete(struct __sk_buff *skb, struct way *way)
{
	__u64 token = way->came_at;
	struct packet *packet;
	enum put_back back;
	__u32 zero = 0;
	int is_plain;

	way->came_at = 0;
	packet = bpf_map_lookup_elem(&SCRATCH, &zero);
	back = packet ? put_back(skb, packet, way, token) : IS_GONE;
	if (back == IS_BACK)
		return TCX_NEXT;
	/* Whether the packet is whole without INT, and for the host; otherwise ports and protocols indicate INT. */
	is_plain = way->config->kind == KIND_DSCP || way->config->kind == KIND_PROBE_MARKER;
	is_plain = is_plain && !(token & DISCARDS);
	if (back != IS_DAMAGED && is_plain) {
		count(way->out, LEFT_WITHOUT, 1);
		return TCX_NEXT;
	}
	count(way->out, back == HAS_NO_ROOM ? TOO_LONG : LOST_INT, 1);
	return TCX_DROP;
}

/* Egress of an interface. */
SEC("classifier")
int leave(struct __sk_buff *skb)
{
	__u32 zero = 0;
	const struct config *config = bpf_map_lookup_elem(&CONFIG, &zero);
	struct way way = { .config = config };
	int verdict;

	if (!config)
		return TCX_NEXT;
	way.out = port_of(skb->ifindex);
	if (!way.out)
		return TCX_NEXT;
	if (config->engine_mark && skb->mark == config->engine_mark && !skb->ingress_ifindex) {
		skb->mark = 0;
		count(way.out, FROM_ENGINE, 1);
		count_traffic(way.out, SENT_PACKETS, 1, skb->len);
		return TCX_NEXT;
	}
	if (skb->ingress_ifindex)
		way.in = port_of(skb->ingress_ifindex);
	if (way.in && is_ip(skb) && skb->tstamp_type == BPF_SKB_TSTAMP_DELIVERY_MONO) {
		way.came_at = skb->tstamp;
		bpf_skb_set_tstamp(skb, 0, BPF_SKB_TSTAMP_UNSPEC);
		if ((way.came_at & HAS_BESIDE) && complete(skb, &way) == TCX_DROP)
			return TCX_DROP;
	}
	verdict = decide(skb, &way);
	if (verdict == TCX_NEXT)
		count_traffic(way.out, SENT_PACKETS, packets(skb), skb->len);
	return verdict;
}

/*
 * Writes the head of a packet that `leave` has made room in. Before a program that writes directly, the kernel
 * copies packets that are shared; so this one is apart, and only packets that have grown come to it.
 */
SEC("classifier")
int write(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct packet *packet = bpf_map_lookup_elem(&SCRATCH, &zero);
	const struct port *out = packet ? bpf_map_lookup_elem(&PORTS, &packet->out) : 0;
	void *data = (void *)(long)skb->data;
	struct counts *counts;
	int is_written;

	if (!out)
		return TCX_DROP;
	is_written = write_words(data, (void *)(long)skb->data_end, packet, packet->written) ||
		     !write_back(skb, packet, packet->written, 0);
	counts = counts_of(out);
	if (!counts)
		return TCX_NEXT;
	if (is_written)
		counts->of[PUSHED]++;
	else
		counts->of[NO_HEADROOM]++;
	counts->of[SENT_PACKETS] += packets(skb);
	counts->of[SENT_BYTES] += skb->len;
	return TCX_NEXT;
}

/* Counts a packet that bypasses the stack, by outcome: constants, so that the verifier knows the bounds. */
static __always_inline void count_forwarded(const struct port *port, int outcome, __u64 bytes)
{
	struct counts *counts = counts_of(port);

	if (!counts)
		return;
	counts->of[SENT_PACKETS]++;
	counts->of[SENT_BYTES] += bytes;
	counts->of[FORWARDED]++;
	if (outcome == PUSHED)
		counts->of[PUSHED]++;
	else if (outcome == HOPS_EXCEEDED)
		counts->of[HOPS_EXCEEDED]++;
	else if (outcome == MALFORMED)
		counts->of[MALFORMED]++;
	else
		counts->of[MTU_EXCEEDED]++;
}

/* Before the stack: INT-MD, and what is marked as INT and is none, between two interfaces that are not edges. */
SEC("xdp")
int forward(struct xdp_md *frame)
{
	const struct route *route;
	struct packet *packet;
	struct way way = {};
	enum find found;
	__u32 zero = 0;
	__u32 grown = 0, length, end;
	int outcome = MALFORMED;

	way.in = port_of(frame->ingress_ifindex);
	if (!way.in || !(way.in->flags & FORWARDS_FROM))
		return XDP_PASS;
	way.config = bpf_map_lookup_elem(&CONFIG, &zero);
	packet = bpf_map_lookup_elem(&SCRATCH, &zero);
	if (!way.config || !packet || (way.config->flags & ALL_TO_ENGINE))
		return XDP_PASS;
	if (read_frame(frame, packet) || !is_addressed_to(packet, way.in))
		return XDP_PASS;
	if (packet->ethertype != bpf_htons(ETH_P_IP) && packet->ethertype != bpf_htons(ETH_P_IPV6))
		return XDP_PASS;
	found = find_int(packet, way.config);
	if (found != NOT_INT && (found != AT_SHIM || is_engines(packet, way.config)))
		return XDP_PASS;
	/* The second: a packet that is still to be segmented. */
	if (!is_simple(packet) || packet->length > L3 + way.in->mtu)
		return XDP_PASS;
	if (found == AT_SHIM && requests_arrival(header_of(packet)))
		way.came_at = bpf_ktime_get_ns();
	route = find_route(frame, packet);
	if (!route)
		return XDP_PASS;
	way.out = port_of(route->device);
	if (!way.out || way.out->is_edge || !(way.out->flags & FORWARDS_TO))
		return XDP_PASS;
	length = packet->length;
	route_on(packet, route);
	end = packet->l4;
	if (found == AT_SHIM) {
		/* It waits in no queue. */
		way.queue = UNKNOWN;
		depart(&way, bpf_ntohs(header_of(packet)->instructions));
		grown = grown_bytes(packet);
		outcome = push_hop(packet, &way);
		if (outcome != PUSHED)
			grown = 0;
		if (outcome == ENGINE || (grown && bpf_xdp_adjust_head(frame, -(int)grown)))
			return XDP_PASS;
		end = start_end(packet) + grown;
	}
	if (!write_words((void *)(long)frame->data, (void *)(long)frame->data_end, packet, end))
		return XDP_ABORTED;
	count_traffic(way.in, RECEIVED_PACKETS, 1, length);
	count_forwarded(way.out, outcome, length + grown);
	return bpf_redirect_map(&WAYS, way.out->number, 0);
}
