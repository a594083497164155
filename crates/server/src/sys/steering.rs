//! Steering of datagrams among the sockets that share an address.

use std::io;
use std::os::fd::BorrowedFd;

use super::options::set;

/// Steers all datagrams of one node to one of the `workers` sockets that share an address, so that they stay
/// in order. `socket` is any socket of the group; the kernel numbers them in the order in which they were
/// bound.
///
/// Versions 1.0 and 2.0 have the node id in the second word. Other versions lack it, so the source address
/// decides.
pub(crate) fn steer(socket: BorrowedFd<'_>, workers: u32) -> io::Result<()> {
    let program = program(workers);
    let length = u16::try_from(program.len()).unwrap_or(u16::MAX);
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // The kernel copies the program, and runs it on the bytes after the UDP header.
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_REUSEPORT_CBPF, &program)
}

fn program(workers: u32) -> [libc::sock_filter; 25] {
    [
        // The first nibble is the version. A load beyond the end selects socket 0.
        op(LOAD_BYTE, 0),
        op(SHIFT_RIGHT, 4),
        jump(1, 1, 0),
        jump(2, 0, 2),
        op(LOAD_WORD, 4),
        op(JUMP, 15),
        // The source address: the word of an IPv4 address, or the four words of an IPv6 address mixed.
        op(LOAD_BYTE, NETWORK),
        op(SHIFT_RIGHT, 4),
        jump(6, 2, 0),
        op(LOAD_WORD, NETWORK + 12),
        op(JUMP, 10),
        op(LOAD_WORD, NETWORK + 8),
        op(TO_X, 0),
        op(LOAD_WORD, NETWORK + 12),
        op(XOR_X, 0),
        op(TO_X, 0),
        op(LOAD_WORD, NETWORK + 16),
        op(XOR_X, 0),
        op(TO_X, 0),
        op(LOAD_WORD, NETWORK + 20),
        op(XOR_X, 0),
        // Node ids often differ in few bits; this carries all of them to the upper half.
        op(MULTIPLY, 0x9e37_79b1),
        op(SHIFT_RIGHT, 16),
        op(REMAINDER, workers.max(1)),
        op(RETURN, 0),
    ]
}

const fn op(code: u32, k: u32) -> libc::sock_filter {
    branch(code, k, 0, 0)
}

/// Skips `yes` instructions if the accumulator equals `value`, otherwise `no`.
const fn jump(value: u32, yes: u8, no: u8) -> libc::sock_filter {
    branch(JUMP_IF_EQUAL, value, yes, no)
}

/// The codes have 16 bits; `libc` has them as 32.
#[allow(clippy::cast_possible_truncation)]
const fn branch(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

/// Offsets from here on count from the IP header (`SKF_NET_OFF`).
const NETWORK: u32 = 0xfff0_0000;

const LOAD_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
const LOAD_WORD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const SHIFT_RIGHT: u32 = libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K;
const MULTIPLY: u32 = libc::BPF_ALU | libc::BPF_MUL | libc::BPF_K;
const REMAINDER: u32 = libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K;
const XOR_X: u32 = libc::BPF_ALU | libc::BPF_XOR | libc::BPF_X;
const TO_X: u32 = libc::BPF_MISC | libc::BPF_TAX;
const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
const JUMP_IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_A;
