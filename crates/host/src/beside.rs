//! The programs and filters on a device, in the order in which packets meet them.

use aya::programs::{SchedClassifier, TcAttachType};
use inband_linux::device::{Device, LINK_BYTES, NEW_LINK};
use inband_linux::netlink::{Attributes, Message, Netlink};

use crate::error::HostError;
use crate::programs::Program;

/// A program or filter on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Where it is attached.
    pub hook: Hook,
    /// The program's name, or the kind of the filter, such as `u32`.
    pub name: String,
    /// The program's id in the kernel; `None`: a filter, which may have several.
    pub id: Option<u32>,
    /// Whether it belongs to this crate, whichever agent attached it.
    pub is_ours: bool,
}

/// Where a program or filter sees packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hook {
    /// Before everything else, on incoming packets.
    Xdp,
    /// TCX, on incoming packets.
    TcxIngress,
    /// Filters of `tc`, on incoming packets, behind TCX.
    TcIngress,
    /// TCX, on outgoing packets.
    TcxEgress,
    /// Filters of `tc`, on outgoing packets, behind TCX.
    TcEgress,
}

impl Hook {
    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xdp => "xdp",
            Self::TcxIngress => "tcx ingress",
            Self::TcIngress => "tc ingress",
            Self::TcxEgress => "tcx egress",
            Self::TcEgress => "tc egress",
        }
    }
}

/// Every program and filter on `device`.
///
/// # Errors
/// An error of the kernel.
pub(crate) fn programs(netlink: &mut Netlink, device: &Device) -> Result<Vec<Beside>, HostError> {
    let fault = |reason| HostError::system(format!("list the filters of {}", device.name), reason);
    let xdp = xdp_program_on(netlink, device.index).map_err(fault)?;
    let mut programs: Vec<_> = xdp.into_iter().map(xdp_program).collect();
    for (hook, attach_type, filters, parent) in [
        (Hook::TcxIngress, TcAttachType::Ingress, Hook::TcIngress, INGRESS_FILTERS),
        (Hook::TcxEgress, TcAttachType::Egress, Hook::TcEgress, EGRESS_FILTERS),
    ] {
        let refused = |reason| HostError::Refused { name: "tcx", reason };
        let (_, attached) = SchedClassifier::query_tcx(&device.name, attach_type).map_err(refused)?;
        programs.extend(attached.iter().map(|program| {
            let name = program.name_as_str().unwrap_or_default().to_owned();
            let is_ours = Program::ALL.iter().any(|ours| ours.name() == name);
            Beside { hook, name, id: Some(program.id()), is_ours }
        }));
        for kind in filter_kinds(netlink, device.index, parent).map_err(fault)? {
            programs.push(Beside { hook: filters, name: kind, id: None, is_ours: false });
        }
    }
    Ok(programs)
}

/// The id of the XDP program on the device with this interface index; `None`: no program.
fn xdp_program_on(netlink: &mut Netlink, index: u32) -> std::io::Result<Option<u32>> {
    let mut program = None;
    netlink.dump(Message::new(GET_LINK, 0, &[0; LINK_BYTES]), |kind, body| {
        let is_it = Device::read(body).is_some_and(|device| kind == NEW_LINK && device.index == index);
        let xdp = body.get(LINK_BYTES..).and_then(|attributes| Attributes(attributes).get(XDP));
        if let Some(xdp) = xdp.filter(|_| is_it) {
            program = Attributes(xdp).number(XDP_PROGRAM_ID);
        }
    })?;
    Ok(program)
}

fn xdp_program(id: u32) -> Beside {
    let is_it = |program: &aya::programs::ProgramInfo| program.id() == id;
    let found = aya::programs::loaded_programs().filter_map(Result::ok).find(is_it);
    let name = found.as_ref().and_then(|program| program.name_as_str()).unwrap_or_default().to_owned();
    Beside { hook: Hook::Xdp, name, id: Some(id), is_ours: false }
}

/// The kinds of the filters of a device below `parent`, each filter once.
fn filter_kinds(netlink: &mut Netlink, device: u32, parent: u32) -> std::io::Result<Vec<String>> {
    let mut asked = [0; FILTER_BYTES];
    for (at, value) in [(4, device), (12, parent)] {
        if let Some(room) = asked.get_mut(at..at + 4) {
            room.copy_from_slice(&value.to_ne_bytes());
        }
    }
    let mut kinds = Vec::new();
    let dumped = netlink.dump(Message::new(GET_FILTER, 0, &asked), |kind, body| {
        let number =
            |at: usize| body.get(at..).and_then(|bytes| bytes.first_chunk()).map(|n| u32::from_ne_bytes(*n));
        // A filter without a handle is the head of a list of filters.
        let is_filter = kind == NEW_FILTER && number(8) != Some(0) && number(12) == Some(parent);
        let name = body.get(FILTER_BYTES..).and_then(|rest| Attributes(rest).text(KIND));
        kinds.extend(name.filter(|_| is_filter && kinds.len() < MAX_FILTERS).map(str::to_owned));
    });
    match dumped {
        // The device has no queueing discipline to hold filters.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(Vec::new()),
        dumped => dumped.map(|()| kinds),
    }
}

const GET_LINK: u16 = 18;
/// `IFLA_XDP`, and in it `IFLA_XDP_PROG_ID`.
const XDP: u16 = 43;
const XDP_PROGRAM_ID: u16 = 4;
/// Maximum number of filters listed for one side of a device.
const MAX_FILTERS: usize = 1000;
/// `struct tcmsg`.
const FILTER_BYTES: usize = 20;
const NEW_FILTER: u16 = 44;
const GET_FILTER: u16 = 46;
/// `TCA_KIND`.
const KIND: u16 = 1;
/// `TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)`, and the same for egress.
const INGRESS_FILTERS: u32 = 0xffff_fff2;
const EGRESS_FILTERS: u32 = 0xffff_fff3;
