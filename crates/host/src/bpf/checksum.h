/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Incremental correction of Internet checksums: RFC 1624 equation 3; sums are in network byte order. */
#pragma once

/* Folds a sum to 16 bits: 0 only when every word was 0. */
static __always_inline __u16 fold(__u64 sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

/* Folds a sum of fewer than 65,536 words. */
static __always_inline __u16 fold_words(__u32 sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

/* The negative of a folded sum in ones' complement arithmetic. */
static __always_inline __u64 less(__u64 sum)
{
	return (__u16)~fold(sum);
}

/* Corrects a checksum field for removed and added words; never 0xffff, the other zero. */
static __always_inline __u16 corrected(__u16 checksum, __u64 removed, __u64 added)
{
	/* A multiple of 0xffff is a zero: this one keeps the sum from being 0, and above what is removed. */
	return ~fold((__u16)~checksum + added + (0xffffULL << 32) - removed);
}

/* As `corrected`, for one word. */
static __always_inline __u16 corrected_word(__u16 checksum, __u16 removed, __u16 added)
{
	return ~fold_words((__u16)~checksum + (__u16)~removed + added + 0xffff);
}

/* As `corrected`, for UDP: 0 means none and is kept, a computed 0 becomes all ones. */
static __always_inline __u16 corrected_udp(__u16 checksum, __u64 removed, __u64 added)
{
	__u16 now = corrected(checksum, removed, added);

	if (!checksum)
		return 0;
	return now ? now : 0xffff;
}

/* Sums `length` bytes, a multiple of 4 and at most 256. */
static __always_inline __u64 sum_of(__u8 *bytes, __u32 length)
{
	/* Keeps the compiler from proving the bound away before the verifier sees it. */
	asm volatile("" : "+r"(length));
	if (length > 256)
		return 0;
	return (__u32)bpf_csum_diff(0, 0, (__be32 *)bytes, length, 0);
}
