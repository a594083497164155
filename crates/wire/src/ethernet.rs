//! Ethernet frames: EtherType and VLAN tags.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::view::view;

/// The Ethernet header, 14 bytes.
///
/// ```text
///  destination address (48) | source address (48) | EtherType (16)
/// ```
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct EthernetHeader {
    /// Destination MAC address.
    pub destination: [u8; 6],
    /// Source MAC address.
    pub source: [u8; 6],
    /// EtherType of what follows.
    pub ethertype: U16,
}

/// An 802.1Q or 802.1ad tag as it follows the EtherType that announces it, 4 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct VlanTag {
    control: U16,
    ethertype: U16,
}

/// Where the payload of an Ethernet frame starts, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetPayload {
    /// EtherType after all VLAN tags.
    pub ethertype: u16,
    /// Offset of the payload's first byte.
    pub at: usize,
}

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// EtherType of an Ethernet frame inside GRE or Geneve (Transparent Ethernet Bridging).
pub const BRIDGED_ETHERNET: u16 = 0x6558;
/// Length of the Ethernet header, bytes.
pub const HEADER_BYTES: usize = size_of::<EthernetHeader>();

/// Maximum number of VLAN tags skipped; two are usual, labs use more.
const MAX_TAGS: usize = 8;

/// Finds the payload of the Ethernet frame that starts at byte `at`.
///
/// # Errors
/// [`ErrorKind::Short`] when the header or a tag is truncated, [`ErrorKind::TooMany`] past eight VLAN tags.
#[inline]
pub fn payload(bytes: &[u8], at: usize) -> Result<EthernetPayload, ParseError> {
    let header: &EthernetHeader = view(bytes, at, Header::Ethernet)?;
    behind(bytes, header.ethertype.get(), at + HEADER_BYTES)
}

/// The payload of the header that ends before byte `at` and announces `ethertype`, behind VLAN tags.
///
/// # Errors
/// A truncated VLAN tag, or more than [`MAX_TAGS`].
#[inline]
pub fn behind(bytes: &[u8], ethertype: u16, at: usize) -> Result<EthernetPayload, ParseError> {
    if is_vlan(ethertype) { behind_tags(bytes, at) } else { Ok(EthernetPayload { ethertype, at }) }
}

fn behind_tags(bytes: &[u8], mut at: usize) -> Result<EthernetPayload, ParseError> {
    for _ in 0..MAX_TAGS {
        let tag: &VlanTag = view(bytes, at, Header::Vlan)?;
        at += size_of::<VlanTag>();
        let ethertype = tag.ethertype.get();
        if !is_vlan(ethertype) {
            return Ok(EthernetPayload { ethertype, at });
        }
    }
    Err(ParseError::new(at, Header::Vlan, ErrorKind::TooMany { most: MAX_TAGS }))
}

/// Whether an EtherType announces a VLAN tag: 802.1Q, 802.1ad, or pre-standard QinQ.
const fn is_vlan(ethertype: u16) -> bool {
    matches!(ethertype, 0x8100 | 0x88a8 | 0x9100 | 0x9200)
}

/// Whether `ethertype` is a registered EtherType that a tunnel may carry (IANA list of IEEE 802 numbers), or
/// one reserved for local experiments.
#[must_use]
pub fn is_registered(ethertype: u16) -> bool {
    let at = REGISTERED.partition_point(|(_, last)| *last < ethertype);
    REGISTERED.get(at).is_some_and(|(first, _)| *first <= ethertype)
}

/// First and last EtherType of each range, in ascending order.
const REGISTERED: &[(u16, u16)] = &[
    (0x0600, 0x0600), // XNS
    (0x0660, 0x0661), // DLOG
    (0x0800, 0x0808), // IPv4, X.75, X.25, ARP, frame relay ARP and others
    (0x081c, 0x081c), // Symbolics
    (0x0842, 0x0842), // wake on LAN
    (0x0888, 0x088a), // Xyplex
    (0x08f0, 0x08f0), // WiMAX
    (0x08ff, 0x08ff), // AX.25
    (0x0900, 0x0900), // Ungermann-Bass
    (0x0a00, 0x0a01), // Xerox PUP
    (0x0bad, 0x0baf), // Banyan Vines
    (0x1000, 0x100f), // Berkeley trailers
    (0x1600, 0x1600), // Valid Systems
    (0x2001, 0x2001), // CGMP
    (0x22df, 0x22df), // route-only
    (0x22e2, 0x22e2), // MPLS echo
    (0x22e5, 0x22e5), // Gigamon
    (0x22ea, 0x22eb), // 802.1Qat, ERSPAN III
    (0x22f0, 0x22f4), // AVTP, RoHC, TRILL, IS-IS
    (0x4242, 0x4242), // PCS
    (0x5208, 0x5208), // BBN Simnet
    (0x6000, 0x6009), // DEC
    (0x6010, 0x6014), // 3Com
    (0x6558, 0x6559), // transparent Ethernet bridging, raw frame relay
    (0x7000, 0x7000), // Ungermann-Bass
    (0x7002, 0x7002), // Ungermann-Bass
    (0x7020, 0x7029), // LRT
    (0x7030, 0x7030), // Proteon
    (0x7034, 0x7034), // Cabletron
    (0x8003, 0x8006), // Cronus, HP, Nestar
    (0x8008, 0x8008), // AT&T
    (0x8010, 0x8010), // Excelan
    (0x8013, 0x8016), // SGI
    (0x8019, 0x8019), // Apollo
    (0x802e, 0x802f), // Tymshare, Tigan
    (0x8035, 0x8036), // RARP, Aeonic
    (0x8038, 0x8042), // DEC
    (0x8044, 0x8044), // Planning Research
    (0x8046, 0x8049), // AT&T, ExperData
    (0x805b, 0x805e), // Stanford, Evans & Sutherland, Little Machines
    (0x8060, 0x8060), // Counterpoint
    (0x8062, 0x8062), // Veeco
    (0x8065, 0x806a), // University of Massachusetts, Veeco, General Dynamics, AT&T
    (0x806c, 0x807d), // ComDesign, Computgraphic, Landmark, Matra, Dansk, Vitalink
    (0x8080, 0x8080), // Vitalink bridge management
    (0x8081, 0x8083), // Counterpoint
    (0x809b, 0x809f), // AppleTalk, Datability, Spider
    (0x80a3, 0x80a3), // Nixdorf
    (0x80a4, 0x80b3), // Siemens
    (0x80c0, 0x80c9), // DCA, Banyan, Pacer, Applitek, Intergraph
    (0x80cd, 0x80cf), // Harris, Taylor
    (0x80d3, 0x80d5), // Rosemount, SNA
    (0x80dd, 0x80f7), // Varian, Integrated Solutions, Allen-Bradley, AARP, Apollo
    (0x80ff, 0x8104), // Wellfleet, 802.1Q
    (0x8107, 0x8109), // Symbolics
    (0x8130, 0x8133), // Hayes, VG, Netscreen
    (0x8137, 0x813d), // Novell, KTI, Logicraft, Network Computing Devices, Alpha Micro
    (0x814c, 0x8154), // SNMP, BIIN, Technically Elite, Rational, Qualcomm, Computer Protocol
    (0x8164, 0x8166), // Charles River Data
    (0x817d, 0x818d), // XTP, SGI/Time Warner, HIPPI, STP, HIPPI
    (0x819a, 0x81a4), // Qualcomm, Computer Protocol, Charles River Data
    (0x81a5, 0x81ae), // RAD
    (0x81b7, 0x81b9), // Xyplex
    (0x81cc, 0x81ef), // Ascom, AES, Qualcomm, Vari-L, DSSS, and others
    (0x81f0, 0x81f2), // HP
    (0x81fd, 0x81ff), // Cabletron
    (0x8203, 0x8207), // Quantum, QNX
    (0x8221, 0x8222), // Taurus
    (0x823e, 0x8240), // Taurus
    (0x825e, 0x8274), // Quantum
    (0x827f, 0x8282), // Taurus
    (0x829a, 0x829b), // Qualcomm
    (0x82ab, 0x82ac), // Qualcomm
    (0x8693, 0x869d), // Qualcomm
    (0x869e, 0x86a1), // AXIS
    (0x86a3, 0x86ac), // Qualcomm
    (0x86db, 0x86df), // Qualcomm, IPv6, ATOMIC
    (0x86e0, 0x86ef), // Landis & Gyr
    (0x8700, 0x8710), // Motorola
    (0x872d, 0x872d), // WLCCP
    (0x876b, 0x876d), // TCP/IP compression, autonomous systems, secure data
    (0x8783, 0x8783), // MINT
    (0x8808, 0x880c), // MAC control, slow protocols, PPP, GSMP
    (0x8819, 0x8819), // CobraNet
    (0x8822, 0x8822), // Ethernet NIC hardware and software testing
    (0x8847, 0x8849), // MPLS, multicast, with an upstream-assigned label
    (0x8861, 0x8861), // MCAP
    (0x8863, 0x8864), // PPPoE
    (0x886c, 0x886d), // HomePNA, Intel ANS
    (0x886f, 0x8870), // NLB, jumbo LLC
    (0x8874, 0x8874), // Broadcom tag
    (0x887b, 0x887b), // HomePlug
    (0x8881, 0x8881), // CDMA2000
    (0x8884, 0x8884), // ATM over Ethernet
    (0x888e, 0x888e), // 802.1X
    (0x8892, 0x8892), // PROFINET
    (0x8899, 0x889b), // Realtek, HyperSCSI, CSM
    (0x88a1, 0x88a8), // ATA over Ethernet, EtherCAT, 802.1ad
    (0x88ab, 0x88ab), // POWERLINK
    (0x88ad, 0x88ad), // XiMeta
    (0x88b4, 0x88ba), // WAPI, local experiments, OUI extended, IEC 61850
    (0x88be, 0x88be), // ERSPAN II
    (0x88c7, 0x88ca), // 802.11i, TIPC
    (0x88cc, 0x88cd), // LLDP, SERCOS
    (0x88d2, 0x88d2), // CDMA2000
    (0x88d8, 0x88dc), // MEF 8, LLTD, WSMP
    (0x88de, 0x88de), // VMware
    (0x88e1, 0x88e7), // HomePlug AV, MRP, MACsec, 802.1ah
    (0x88ee, 0x88ee), // E-LMI
    (0x88f5, 0x88f8), // MVRP, MMRP, PTP, NC-SI
    (0x88fb, 0x88fb), // PRP
    (0x8901, 0x8903), // FLIP, CFM, DCE
    (0x8906, 0x8906), // FCoE
    (0x8909, 0x8909), // Cisco metadata
    (0x890d, 0x890d), // 802.11 data
    (0x8911, 0x8911), // LINX
    (0x8914, 0x8915), // FIP, RoCE
    (0x8917, 0x8917), // MIS
    (0x891d, 0x891d), // TTEthernet
    (0x8926, 0x8926), // VN-Tag
    (0x8929, 0x892f), // MIRP, SEL, bluecom, HSR
    (0x893a, 0x893b), // 1905.1, TRILL FGL
    (0x893f, 0x8940), // E-TAG, ECP
    (0x8946, 0x8948), // TRILL channel, GeoNetworking
    (0x894f, 0x894f), // NSH
    (0x8951, 0x8952), // DRCP, CIM
    (0x8988, 0x8988), // PA HB
    (0x9000, 0x9003), // loopback, Bridge Communications
    (0x9021, 0x9022), // RT-MAC, RTCFG
    (0x9100, 0x9100), // QinQ
    (0x9a22, 0x9a22), // multi-topology
    (0xa0ed, 0xa0ed), // LoWPAN
    (0xaefe, 0xaefe), // eCPRI
    (0xb4e3, 0xb4e3), // CableLabs
    (0xb7ea, 0xb7ea), // GRE control
    (0xd28b, 0xd28b), // Arista
    (0xf1c1, 0xf1c1), // FRER
    (0xff00, 0xff0f), // BBN Simnet tests
];

#[cfg(test)]
mod tests;
