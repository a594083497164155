/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The maps of the flow watchlist. */
#pragma once

#include "intf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rules);
} RULES SEC(".maps");

/* The prefixes of two watchlists, each with that of IPv4: one replaces the other while both are in the map. */
#define MAX_PREFIXES (2 * MAX_RULES + 2)

/* The rules whose prefixes contain an address: a bit each. */
#define PREFIXES(name)                                  \
	struct {                                        \
		__uint(type, BPF_MAP_TYPE_LPM_TRIE);    \
		__uint(max_entries, MAX_PREFIXES);      \
		__uint(map_flags, BPF_F_NO_PREALLOC);   \
		__type(key, struct prefix);             \
		__type(value, __u64);                   \
	} name SEC(".maps")

PREFIXES(SOURCES);
PREFIXES(DESTINATIONS);
