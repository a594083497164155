// SPDX-License-Identifier: MIT OR Apache-2.0
// Programs for measurements around a switch: `generate` sends frames, `redirect` forwards them without
// reading them, `take` counts them on arrival, and `swallow` counts packets that came through a stack.
// `note` and `grow` lengthen packets that pass a stack, and do nothing else.

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Bytes of a frame's start that a node may change. */
#define HEAD_BYTES 96
/* Of Ethernet and IPv4. */
#define BEHIND_IPV4 34
/* Of `enum tcx_action_base`, which older headers of the kernel do not have. */
#define TCX_NEXT -1
#define TCX_DROP 2

struct head {
	__u8 bytes[HEAD_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct head);
} HEAD SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} WAY SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} TAKEN SEC(".maps");

/* The kernel reuses the memory of a frame: the parts that nodes changed are rewritten. */
SEC("xdp")
int generate(struct xdp_md *frame)
{
	void *data = (void *)(long)frame->data;
	__u32 zero = 0;
	const struct head *head = bpf_map_lookup_elem(&HEAD, &zero);

	if (!head || data + HEAD_BYTES > (void *)(long)frame->data_end)
		return XDP_DROP;
	__builtin_memcpy(data, head->bytes, HEAD_BYTES);
	return XDP_TX;
}

SEC("xdp")
int redirect(struct xdp_md *frame __attribute__((unused)))
{
	return bpf_redirect_map(&WAY, 0, XDP_PASS);
}

static __always_inline void count(void)
{
	__u32 zero = 0;
	__u64 *taken = bpf_map_lookup_elem(&TAKEN, &zero);

	if (taken)
		(*taken)++;
}

SEC("xdp")
int take(struct xdp_md *frame __attribute__((unused)))
{
	count();
	return XDP_DROP;
}

/*
 * Behind a stack and an engine, `take` would cost packets more: in front of a program at XDP a virtual device
 * copies those whose headroom is short, and the switch's program for drops is called for each packet that
 * `take` drops. This one uses packets up, which is no drop.
 */
SEC("classifier")
int swallow(struct __sk_buff *skb __attribute__((unused)))
{
	count();
	return TC_ACT_STOLEN;
}

/* What every switch in a stack needs at ingress: the time of arrival, kept with the packet. */
SEC("classifier")
int note(struct __sk_buff *skb)
{
	bpf_skb_set_tstamp(skb, bpf_ktime_get_ns(), BPF_SKB_TSTAMP_DELIVERY_MONO);
	return TCX_NEXT;
}

/* And at egress: room for two words of metadata, and a copy of them. It reads no header and corrects none. */
SEC("classifier")
int grow(struct __sk_buff *skb)
{
	__u64 words = skb->tstamp_type == BPF_SKB_TSTAMP_DELIVERY_MONO ? skb->tstamp : 0;

	bpf_skb_set_tstamp(skb, 0, BPF_SKB_TSTAMP_UNSPEC);
	if (bpf_skb_adjust_room(skb, sizeof(words), BPF_ADJ_ROOM_NET, BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return TCX_DROP;
	if (bpf_skb_store_bytes(skb, BEHIND_IPV4, &words, sizeof(words), 0))
		return TCX_DROP;
	return TCX_NEXT;
}
