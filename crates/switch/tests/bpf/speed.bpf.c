// SPDX-License-Identifier: MIT OR Apache-2.0
// Programs for measurements around a switch: `generate` sends frames, `redirect` forwards them without
// reading them, `take` counts them on arrival, and `swallow` counts packets that came through a stack.

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Bytes of a frame's start that a node may change. */
#define HEAD_BYTES 96

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
 * Behind a stack, `take` would cost packets with INT more than others: in front of a program at XDP a virtual
 * device copies a packet whose headroom INT has shortened, and the switch's program for drops is called for
 * each packet that `take` drops. This one uses packets up, which is no drop.
 */
SEC("classifier")
int swallow(struct __sk_buff *skb __attribute__((unused)))
{
	count();
	return TC_ACT_STOLEN;
}
