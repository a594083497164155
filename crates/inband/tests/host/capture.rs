//! The packets of a namespace, as `inband decode` reads them.

use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size_force, set_socket_timeout};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType, recv, socket_with};
use serde_json::Value;

use crate::world::{Place, World};

/// A socket that gets a copy of every packet of a namespace.
pub(crate) struct Capture {
    socket: OwnedFd,
}

/// `ETH_P_ALL` in network byte order.
const EVERYTHING: u32 = 0x0300;
const BUFFER_BYTES: usize = 128 << 20;

impl Capture {
    pub(crate) fn start(world: &World, place: Place) -> Self {
        let socket = world.inside(place, || {
            let protocol = Protocol::from_raw(NonZeroU32::new(EVERYTHING).unwrap());
            let socket =
                socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, Some(protocol))
                    .unwrap();
            set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES).unwrap();
            set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_millis(100))).unwrap();
            socket
        });
        Self { socket }
    }

    /// Ends the capture, and returns one JSON object for every INT packet and every report in it.
    pub(crate) fn decode(self, world: &World) -> Vec<Value> {
        let mut file = pcap_header();
        let mut buffer = vec![0; 1 << 17];
        while let Ok((length, _)) = recv(&self.socket, buffer.as_mut_slice(), RecvFlags::empty()) {
            let length_field = u32::try_from(length).unwrap().to_le_bytes();
            file.extend([[0; 4], [0; 4], length_field, length_field].concat());
            file.extend(&buffer[..length]);
        }
        let path = world.write("capture.pcap", &file);
        let output =
            Command::new(env!("CARGO_BIN_EXE_inband")).args(["decode", "--json"]).arg(path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The header of a capture file of Ethernet frames.
fn pcap_header() -> Vec<u8> {
    [0xa1b2_c3d4, 0x0004_0002, 0, 0, 1 << 18, 1].into_iter().flat_map(u32::to_le_bytes).collect()
}
