/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The hosts to exchange INT with: those of `[[peer]]`. */
#pragma once

#include "intf.h"

/* Maximum number of prefixes: those of the settings, and former ones. */
#define MAX_PEERS 32768
/* Maximum number of sources with a lease. */
#define MAX_GRANTED 4096

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, MAX_PEERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix);
	__type(value, struct peer);
} PEERS SEC(".maps");

/* Addresses that may send INT to this host; the agent removes them some time after their lease ends. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_GRANTED);
	__type(key, struct prefix);
	__type(value, __u32);
} GRANTED SEC(".maps");

/* The peer with this address; null: not a peer. */
static __always_inline const struct peer *peer_at(const struct prefix *address)
{
	const struct peer *peer = bpf_map_lookup_elem(&PEERS, address);

	return peer && (peer->flags & IS_PEER) ? peer : 0;
}

/* Whether INT is removed from packets of this address. */
static __always_inline int may_send_int(const struct prefix *address)
{
	const struct peer *peer;

	if (bpf_map_lookup_elem(&GRANTED, address))
		return 1;
	peer = bpf_map_lookup_elem(&PEERS, address);
	return peer && (peer->flags & ENDED_ALWAYS);
}
