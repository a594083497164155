/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's own structures, read without calls: the verifier knows their types from two functions. */
#pragma once

#include <bpf/bpf_core_read.h>

#include "kernel.h"

/*
 * The call of a function of the kernel, which `object.rs` completes before the programs are loaded: in place
 * of the number below it puts the function's number in the kernel's types.
 */
#define CALL_OF(number) ".8byte " #number "00002085\n"
#define CAST_TO_KERN_CTX CALL_OF(0x696e0001)
#define RDONLY_CAST CALL_OF(0x696e0002)

/* The kernel's own structure of the packet. */
static __always_inline const struct sk_buff *kernel_of(struct __sk_buff *skb)
{
	const struct sk_buff *kernel;

	asm volatile("r1 = %1\n" CAST_TO_KERN_CTX "%0 = r0"
		     : "=r"(kernel)
		     : "r"(skb)
		     : "r0", "r1", "r2", "r3", "r4", "r5");
	return kernel;
}

/* The kernel's structure of this type at an address; where no memory is, its fields read as 0. */
#define CAST(type, address) ((const type *)cast((const void *)(address), bpf_core_type_id_kernel(type)))

static __always_inline const void *cast(const void *address, __u64 type)
{
	const void *structure;

	asm volatile("r1 = %1\nr2 = %2\n" RDONLY_CAST "%0 = r0"
		     : "=r"(structure)
		     : "r"(address), "r"(type)
		     : "r0", "r1", "r2", "r3", "r4", "r5");
	return structure;
}
