//! Drops as input of a node's reports.

use inband_node::{DeviceMetadata, FlowDrops, Node, Passage};
use inband_wire::int::Queue;
use inband_wire::layers::Link;

use super::{DropCount, DroppedPacket, Namespace};

/// The identifiers that a node's interfaces have in INT.
pub trait InterfaceIds {
    /// The identifier of the device with this interface index in `namespace`; `None`: not an interface of the
    /// node.
    fn id(&self, namespace: Namespace, device: u32) -> Option<u16>;
    /// The identifier of the interface that the host's own packets come from.
    fn host(&self) -> u16;
}

impl DroppedPacket {
    /// Passes the packet to the node, which may queue a report of it.
    // report-2.0/individual-08
    pub fn tell(&self, node: &mut Node, ids: &impl InterfaceIds) {
        node.handle_drop(Link::Ip, &self.packet, &self.passage(ids), self.code);
    }

    /// A packet lost by the device it came in by has no egress.
    fn passage(&self, ids: &impl InterfaceIds) -> Passage {
        let id = |device| ids.id(self.namespace, device).unwrap_or_default();
        let is_incoming = self.device == self.ingress_device;
        Passage {
            ingress: if self.ingress_device == 0 { ids.host() } else { id(self.ingress_device) },
            egress: if is_incoming { 0 } else { id(self.device) },
            metadata: DeviceMetadata {
                ingress_timestamp: Some(self.time),
                // The kernel does not report the queue; all ones mean no queue.
                queue: Some(Queue { id: 0xff, occupancy: 0xff_ffff }),
                ..DeviceMetadata::default()
            },
        }
    }
}

impl DropCount {
    /// Passes the packets without a sample, all but the first, to the node.
    pub fn tell(&self, node: &mut Node, ids: &impl InterfaceIds) {
        let further = u32::try_from(self.packets.saturating_sub(1)).unwrap_or(u32::MAX);
        if further > 0 {
            let egress = ids.id(self.namespace, self.device).unwrap_or_default();
            let drops = FlowDrops {
                flow: self.flow,
                packets: further,
                since: self.first,
                ingress: ids.host(),
                egress,
            };
            node.handle_flow_drops(&drops, self.last);
        }
    }
}
