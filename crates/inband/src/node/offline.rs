//! A stand-in for the device when packets come from a file.

use inband_node::config::{OfflineConfig, OfflinePackets};
use inband_node::{DeviceMetadata, Passage};
use inband_wire::int::{Buffer, Instructions, Queue};

/// A device that measures the same for every packet, except those the configuration names.
#[derive(Clone, Debug)]
pub(super) struct Device {
    usual: Handling,
    unavailable: Instructions,
    packets: Vec<OfflinePackets>,
}

/// How the device handles one packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handling {
    pub(super) passage: Passage,
    /// Why the device drops it; `None`: it is forwarded.
    pub(super) drop: Option<u8>,
}

impl Device {
    /// A device that takes packets from interface `ingress` to `egress`.
    pub(super) fn new(config: &OfflineConfig, ingress: u16, egress: u16) -> Self {
        let metadata = DeviceMetadata {
            hop_latency: Some(config.hop_latency),
            queue: Some(Queue { id: config.queue_id, occupancy: config.queue_occupancy }),
            buffer: Some(Buffer { id: config.buffer_id, occupancy: config.buffer_occupancy }),
            egress_utilization: Some(config.egress_utilization),
            ..DeviceMetadata::default()
        };
        Self {
            usual: Handling { passage: Passage { ingress, egress, metadata }, drop: None },
            unavailable: config.unavailable.bitmap(),
            packets: config.packets.clone(),
        }
    }

    /// How the device handles packet `number`, counted from 1, received at `captured_at_ns`; `None` if the
    /// capture has no time for it.
    pub(super) fn handle(&self, number: u64, captured_at_ns: Option<u64>) -> Handling {
        let mut handling = self.usual;
        let is_about =
            |packets: &&OfflinePackets| packets.from <= number && packets.to.is_none_or(|to| number <= to);
        self.packets.iter().filter(is_about).for_each(|packets| handling.change(packets));
        let metadata = &mut handling.passage.metadata;
        let latency_ns = metadata.hop_latency.unwrap_or_default();
        metadata.ingress_timestamp = captured_at_ns;
        metadata.egress_timestamp = captured_at_ns.map(|time| time.saturating_add(latency_ns.into()));
        *metadata = metadata.without(self.unavailable);
        handling
    }
}

impl Handling {
    fn change(&mut self, packets: &OfflinePackets) {
        let passage = &mut self.passage;
        passage.ingress = packets.ingress.unwrap_or(passage.ingress);
        passage.egress = packets.egress.unwrap_or(passage.egress);
        passage.metadata.hop_latency = packets.hop_latency.or(passage.metadata.hop_latency);
        let utilization = &mut passage.metadata.egress_utilization;
        *utilization = packets.egress_utilization.or(*utilization);
        if let Some(queue) = &mut passage.metadata.queue {
            queue.id = packets.queue_id.unwrap_or(queue.id);
            queue.occupancy = packets.queue_occupancy.unwrap_or(queue.occupancy);
        }
        self.drop = packets.drop.or(self.drop);
    }
}

#[cfg(test)]
mod tests {
    use inband_node::config::{OfflineConfig, OfflinePackets};

    use super::Device;

    #[test]
    fn packets_have_the_utilization_that_their_last_entry_gives() {
        let packets = |text: &str| toml::from_str::<OfflinePackets>(text).unwrap();
        let config = OfflineConfig {
            egress_utilization: 10,
            packets: vec![
                packets("from = 2\nto = 3\negress_utilization = 4294967294"),
                packets("from = 3\nto = 4\negress_utilization = 0"),
                packets("from = 4\nhop_latency = 7"),
            ],
            ..OfflineConfig::default()
        };
        let device = Device::new(&config, 1, 2);
        let utilization = |number| device.handle(number, Some(0)).passage.metadata.egress_utilization;
        assert_eq!([1, 2, 3, 4, 5].map(utilization).map(Option::unwrap), [10, 4_294_967_294, 0, 0, 10]);
    }
}
