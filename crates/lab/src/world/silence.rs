//! Loss of what a switch sends to other switches, without notice to it or to them.

use std::io;
use std::net::IpAddr;

use inband_linux::neighbour::{self, Neighbour};
use inband_linux::netlink::Netlink;

use super::queue::{self, NEW, OPTIONS, Place, add};

/// Makes a device discard every packet except ARP and neighbour discovery, without notice to senders.
///
/// Neighbours continue to find the switch: packets to it arrive, and none reports that it is unreachable.
pub(super) fn discard(netlink: &mut Netlink, device: u32) -> io::Result<()> {
    queue::remove(netlink, device)?;
    let root = Place { handle: HANDLE, ..Place::root(device) };
    netlink.change(add(NEW, root, "htb").nested(OPTIONS, |it| it.attribute(HTB_INIT, &words(&HTB))))?;
    let class = Place { handle: CLASS, parent: HANDLE, ..root };
    netlink.change(
        add(NEW_CLASS, class, "htb").nested(OPTIONS, |it| it.attribute(HTB_PARAMETERS, &words(&HTB_CLASS))),
    )?;
    let info = 1 << 16 | u32::from(ALL_PROTOCOLS.to_be());
    let filter = Place { handle: 0, parent: HANDLE, info, ..root };
    netlink.change(add(NEW_FILTER, filter, "bpf").nested(OPTIONS, |it| {
        // The handle of the discipline itself: past its classes.
        it.attribute(BPF_CLASS, &HANDLE.to_ne_bytes())
            .attribute(BPF_COUNT, &LENGTH.to_ne_bytes())
            .attribute(BPF_PROGRAM, &NEIGHBOURS.map(Instruction::bytes).concat())
    }))?;
    netlink.change(add(NEW, Place { handle: 0, parent: CLASS, ..root }, "blackhole"))
}

/// Makes a device send packets for these routers to an unused Ethernet address, or ends that.
///
/// Linux reports whatever it drops itself, but a frame for another station is no drop to its receiver.
pub(super) fn estrange(
    netlink: &mut Netlink,
    device: u32,
    routers: &[IpAddr],
    is_silent: bool,
) -> io::Result<()> {
    for router in routers {
        if is_silent {
            let address = Some(UNUSED);
            Neighbour { device, ip: *router, address, has_failed: false, is_permanent: true }
                .replace(netlink)?;
            continue;
        }
        match neighbour::remove(netlink, device, *router) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// One instruction of classic BPF, `struct sock_filter`: code, jumps if true and if false, operand.
#[derive(Clone, Copy, Debug)]
struct Instruction(u16, u8, u8, u32);

impl Instruction {
    fn bytes(self) -> [u8; 8] {
        let Self(code, if_true, if_false, operand) = self;
        let ([a, b], [c, d, e, f]) = (code.to_ne_bytes(), operand.to_ne_bytes());
        [a, b, if_true, if_false, c, d, e, f]
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Accepts ARP and ICMPv6 types 133 to 137 (RFC 4861) in frames without VLAN tags.
const NEIGHBOURS: [Instruction; LENGTH as usize] = [
    Instruction(LOAD_16, 0, 0, 12),
    Instruction(IF_EQUAL, 6, 0, 0x0806),
    Instruction(IF_EQUAL, 0, 6, 0x86dd),
    Instruction(LOAD_8, 0, 0, 20),
    Instruction(IF_EQUAL, 0, 4, 58),
    Instruction(LOAD_8, 0, 0, 54),
    Instruction(IF_AT_LEAST, 0, 2, 133),
    Instruction(IF_ABOVE, 1, 0, 137),
    Instruction(RETURN, 0, 0, u32::MAX),
    Instruction(RETURN, 0, 0, 0),
];
const LENGTH: u16 = 10;
/// `BPF_LD | BPF_H | BPF_ABS`, `BPF_LD | BPF_B | BPF_ABS`, and jumps that compare with the operand.
const LOAD_16: u16 = 0x28;
const LOAD_8: u16 = 0x30;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ABOVE: u16 = 0x25;
const RETURN: u16 = 0x06;

/// `struct tc_htb_glob`: version 3, a divisor of 10, and packets without a class belong to class 1.
const HTB: [u32; 5] = [3, 10, 1, 0, 0];
/// `struct tc_htb_opt`: rate and ceiling, bursts and quantum, bytes. No packet waits for the rate, since none is
/// queued.
const HTB_CLASS: [u32; 11] = [ETHERNET, 0, 1 << 30, ETHERNET, 0, 1 << 30, BURST, BURST, BURST, 0, 0];
/// The start of `struct tc_ratespec`, link layer Ethernet.
const ETHERNET: u32 = u32::from_ne_bytes([0, 1, 0, 0]);
const BURST: u32 = 1 << 16;
/// The handles 1: and 1:1.
const HANDLE: u32 = 0x1_0000;
const CLASS: u32 = 0x1_0001;
/// `RTM_NEWTCLASS`.
const NEW_CLASS: u16 = 40;
/// `RTM_NEWTFILTER`.
const NEW_FILTER: u16 = 44;
/// `ETH_P_ALL`.
const ALL_PROTOCOLS: u16 = 3;
/// `TCA_HTB_PARMS`, `TCA_HTB_INIT`.
const HTB_PARAMETERS: u16 = 1;
const HTB_INIT: u16 = 2;
/// `TCA_BPF_CLASSID`, `TCA_BPF_OPS_LEN`, `TCA_BPF_OPS`.
const BPF_CLASS: u16 = 3;
const BPF_COUNT: u16 = 4;
const BPF_PROGRAM: u16 = 5;
/// An Ethernet address like those of [`super::mac`], but unused: there are not that many nodes.
const UNUSED: [u8; 6] = [0x02, 0x1b, 0xff, 0xff, 0xff, 0xff];
