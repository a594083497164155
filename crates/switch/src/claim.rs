//! The claim of a switch on its devices, which no other switch of the network namespace can have.

use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use inband_linux::device::Device;

use crate::error::SwitchError;

/// The claim on the devices of a switch, until this value is dropped.
///
/// For each device it is an abstract Unix socket, whose name is unique in its network namespace, and which
/// the kernel closes with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Claim {
    /// `None`: that of a device that is gone.
    sockets: Vec<Option<UnixDatagram>>,
}

impl Claim {
    /// Claims the devices. A switch that ends at the moment has some time to do so.
    ///
    /// # Errors
    /// The first device that another switch has.
    pub(crate) fn on(devices: &[Device]) -> Result<Self, SwitchError> {
        let until = Instant::now() + PATIENCE;
        let sockets =
            devices.iter().map(|device| claim(device, until).map(Some)).collect::<Result<_, _>>()?;
        Ok(Self { sockets })
    }

    /// Claims a device in place of the one at this position, which is gone.
    ///
    /// # Errors
    /// It belongs to another switch.
    pub(crate) fn renew(&mut self, at: usize, device: &Device) -> Result<(), SwitchError> {
        if let Some(socket) = self.sockets.get_mut(at) {
            *socket = None;
            *socket = Some(claim(device, Instant::now())?);
        }
        Ok(())
    }
}

fn claim(device: &Device, until: Instant) -> Result<UnixDatagram, SwitchError> {
    loop {
        match bind(device.index) {
            Err(error) if error.kind() != ErrorKind::AddrInUse => {
                return Err(SwitchError::system(format!("claim {}", device.name))(error));
            }
            Err(_) if Instant::now() >= until => return Err(SwitchError::Claimed(device.name.clone())),
            Err(_) => std::thread::sleep(RETRY),
            Ok(socket) => return Ok(socket),
        }
    }
}

fn bind(device: u32) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(format!("inband-switch/{device}"))?)
}

/// How long a switch that ends may still have its devices.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two attempts.
pub(crate) const RETRY: Duration = Duration::from_millis(10);
