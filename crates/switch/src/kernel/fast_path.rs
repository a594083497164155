//! The fast path: an XDP program forwards INT-MD by the kernel's routes, before the stack sees it.

use std::collections::BTreeMap;

use inband_linux::bpf::Attached;
use inband_linux::device::{self, Device};
use inband_linux::netlink::Netlink;
use inband_linux::xdp::{self, XdpMode};
use inband_node::NodeConfig;
use inband_node::config::Xdp;

use super::abi::{PortSettings, narrowest};
use super::obstacle::{Facts, Obstacle};
use super::programs::Programs;
use crate::error::SwitchError;

/// The fast path; its programs are detached when this value is dropped.
#[derive(Debug)]
pub(super) struct FastPath {
    mode: Xdp,
    /// Why the kernel refuses the program altogether.
    refusal: Option<String>,
    lanes: Vec<Lane>,
}

/// The fast path on one interface.
#[derive(Debug)]
struct Lane {
    name: String,
    /// Index of its device, which may be renamed.
    index: u32,
    /// The program on incoming packets.
    link: Option<Attached>,
    /// Why the kernel refused to attach it.
    refusal: Option<String>,
    /// Why packets do not arrive by the fast path, or do not leave by it.
    from: Option<Obstacle>,
    to: Option<Obstacle>,
}

impl FastPath {
    /// Attaches the program to the interfaces where it may run.
    ///
    /// # Errors
    /// If the configuration demands the fast path: the kernel's refusal.
    pub(super) fn start(
        config: &NodeConfig,
        programs: &mut Programs,
        netlink: &mut Netlink,
    ) -> Result<Self, SwitchError> {
        let mode = config.switch.xdp;
        let refusal = match mode {
            Xdp::Off => None,
            _ => programs.load_forward().err().map(|error| error.words()),
        };
        if let (Some(refusal), true) = (&refusal, is_demanded(mode)) {
            return Err(SwitchError::config("switch.xdp", format!("is not possible: {refusal}")));
        }
        let all = device::all(netlink).map_err(SwitchError::system("list the devices"))?;
        let lanes = config.interfaces.iter().map(|interface| {
            let name = interface.device.clone().unwrap_or_default();
            let index = all.iter().find(|device| device.name == name).map_or(0, |device| device.index);
            let off = || Some(Obstacle::Off);
            Lane { name, index, link: None, refusal: None, from: off(), to: off() }
        });
        let mut started = Self { mode, refusal, lanes: lanes.collect() };
        started.update(config, programs, netlink, &all)?;
        match started.lanes.iter().find_map(|lane| Some((&lane.name, lane.refusal.as_ref()?))) {
            Some((name, refusal)) if is_demanded(mode) => Err(SwitchError::config(
                "switch.xdp",
                format!("is not possible: `{name}` takes no program: {refusal}"),
            )),
            _ => Ok(started),
        }
    }

    /// Uses another device in place of that of the interface at this position, which is gone.
    pub(super) fn set_device(&mut self, at: usize, index: u32) {
        if let Some(lane) = self.lanes.get_mut(at) {
            (lane.index, lane.link, lane.refusal) = (index, None, None);
        }
    }

    /// Updates which packets may bypass the stack, and the devices' MTUs, for the devices `all`.
    ///
    /// # Errors
    /// An error of the kernel about the programs' maps.
    pub(super) fn update(
        &mut self,
        config: &NodeConfig,
        programs: &mut Programs,
        netlink: &mut Netlink,
        all: &[Device],
    ) -> Result<(), SwitchError> {
        if self.mode != Xdp::Off && self.refusal.is_none() {
            let facts = Facts::gather(self.mode, netlink, all);
            for (lane, interface) in self.lanes.iter_mut().zip(&config.interfaces) {
                lane.from = facts.against(interface, lane.index);
                lane.to = lane.from.clone().or_else(|| facts.against_leaving(lane.index));
            }
            self.attach(programs);
        }
        let mode = self.mode;
        let device_of = |index: u32| all.iter().find(|device| device.index == index);
        let narrowest = narrowest(self.lanes.iter().filter_map(|lane| device_of(lane.index)));
        for ((lane, interface), number) in self.lanes.iter_mut().zip(&config.interfaces).zip(0..) {
            let Some(device) = device_of(lane.index) else { continue };
            let takes = || mode == Xdp::Generic || xdp::takes_redirected(device.index).unwrap_or(false);
            if lane.to.is_none() && !takes() {
                lane.to = Some(Obstacle::TakesNone);
            }
            if lane.to.is_none() {
                programs.set_way(number, device.index)?;
            }
            let settings = PortSettings::new(interface, device, number).with_narrowest(narrowest);
            let settings = settings.with_fast_path(lane.from.is_none(), lane.to.is_none());
            programs.set_port(device.index, &settings)?;
        }
        Ok(())
    }

    /// Attaches the program where it may run but does not, if packets can use it at all: from one interface
    /// to another. The program has a cost even for packets that it passes.
    fn attach(&mut self, programs: &mut Programs) {
        let mode = if self.mode == Xdp::Generic { XdpMode::Generic } else { XdpMode::Native };
        let ways = self.lanes.iter().filter(|lane| lane.to.is_none()).count();
        for lane in self.lanes.iter_mut().filter(|lane| lane.from.is_none()) {
            let others = ways - usize::from(lane.to.is_none());
            if let (None, None) = (&lane.link, &lane.refusal)
                && others > 0
            {
                match programs.attach_forward(lane.index, mode) {
                    Ok(link) => lane.link = Some(link),
                    Err(error) => lane.refusal = Some(error.to_string()),
                }
            }
            lane.from = match (&lane.link, &lane.refusal) {
                (Some(_), _) => None,
                (None, Some(refusal)) => Some(Obstacle::Refused(refusal.clone())),
                (None, None) => Some(Obstacle::NoWay),
            };
        }
    }

    /// Detaches the program from all interfaces.
    pub(super) fn detach(&mut self) {
        for lane in &mut self.lanes {
            lane.link = None;
        }
    }

    /// Its state on each device: what it does, or why nothing.
    pub(super) fn words(&self) -> BTreeMap<String, String> {
        let mode = if self.mode == Xdp::Generic { "generic" } else { "native" };
        let words = |lane: &Lane| match (&self.refusal, &lane.from, &lane.to) {
            (Some(refusal), ..) => format!("off: {refusal}"),
            (None, None, None) => mode.to_owned(),
            (None, None, Some(obstacle)) => format!("{mode} in; not out: {obstacle}"),
            (None, Some(obstacle), None) => format!("{mode} out; not in: {obstacle}"),
            (None, Some(obstacle), Some(_)) => format!("off: {obstacle}"),
        };
        self.lanes.iter().map(|lane| (lane.name.clone(), words(lane))).collect()
    }
}

/// Whether the switch must not run without it.
fn is_demanded(mode: Xdp) -> bool {
    matches!(mode, Xdp::Native | Xdp::Generic)
}
