//! The queueing disciplines of devices.

use std::io;

use crate::netlink::{Attributes, Message, Netlink};

/// A queueing discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// Interface index of its device.
    pub device: u32,
    /// Its kind, as in `fq_codel`.
    pub kind: String,
    /// Where it is attached.
    pub place: Place,
}

/// Where a queueing discipline is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the root of the egress.
    Root,
    /// For filters, `ingress` or `clsact`.
    Filters,
    /// In a class of another discipline.
    Inner,
}

/// Every queueing discipline of this network namespace.
///
/// # Errors
/// An error of the kernel.
pub fn all(netlink: &mut Netlink) -> io::Result<Vec<Qdisc>> {
    let mut found = Vec::new();
    netlink.dump(Message::new(GET, 0, &[0; FIXED_BYTES]), |kind, body| {
        found.extend(Qdisc::read(body).filter(|_| kind == NEW));
    })?;
    Ok(found)
}

impl Qdisc {
    /// Reads the body of a message, `struct tcmsg` and its attributes.
    fn read(body: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_ne_bytes(*body.get(at..)?.first_chunk()?));
        let place = match word(12)? {
            ROOT => Place::Root,
            FILTERS => Place::Filters,
            _ => Place::Inner,
        };
        let kind = Attributes(body.get(FIXED_BYTES..)?).text(KIND)?.to_owned();
        Some(Self { device: word(4)?, kind, place })
    }
}

/// `RTM_NEWQDISC`, `RTM_GETQDISC`, `struct tcmsg`, `TCA_KIND`, `TC_H_ROOT`, `TC_H_INGRESS`.
const NEW: u16 = 36;
const GET: u16 = 38;
const FIXED_BYTES: usize = 20;
const KIND: u16 = 1;
const ROOT: u32 = 0xffff_ffff;
const FILTERS: u32 = 0xffff_fff1;

/// Kinds of default queues, which shape nothing.
pub const USUAL: [&str; 6] = ["noqueue", "mq", "pfifo_fast", "fq_codel", "fq", "pfifo"];
