//! The mock cluster that tests send to.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Headers, Message};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use rdkafka::{Offset, TopicPartitionList};
use serde_json::Value;
use tokio::net::TcpSocket;

use super::PATIENCE;
use crate::brokers::{KafkaProperty, KafkaSettings};
use crate::kafka::Kafka;
use crate::message::Topic;
use crate::sample::Folder;

/// Brokers in this process that speak the protocol on loopback, with the topic `inband.events`.
pub(super) struct Cluster {
    mock: MockCluster<'static, DefaultProducerContext>,
    partitions: i32,
    folder: Folder,
    /// The ports of brokers that are down, by broker: without them other programs could take the ports.
    ports: RefCell<BTreeMap<i32, TcpSocket>>,
}

/// A message as a consumer sees it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) partition: i32,
}

impl Cluster {
    /// A cluster of `brokers` brokers, each leading one partition.
    pub(super) fn new(brokers: i32) -> Cluster {
        let cluster = Cluster::with_partitions(brokers, brokers);
        for broker in 1..=brokers {
            cluster.mock.partition_leader(TOPIC, broker - 1, Some(broker)).unwrap();
        }
        cluster
    }

    pub(super) fn with_partitions(brokers: i32, partitions: i32) -> Cluster {
        let mock = MockCluster::new(brokers).unwrap();
        mock.create_topic(TOPIC, partitions, 1).unwrap();
        Cluster { mock, partitions, folder: Folder::new(), ports: RefCell::default() }
    }

    /// The settings of an output to it. Messages wait as long as the test does, since on a busy machine a
    /// cluster that has just started may not acknowledge for seconds.
    pub(super) fn settings(&self) -> KafkaSettings {
        self.settings_with_timeout(PATIENCE)
    }

    /// The same with a short timeout, so that a broker that is away is soon noticed.
    pub(super) fn impatient_settings(&self) -> KafkaSettings {
        self.settings_with_timeout(Duration::from_millis(1_500))
    }

    fn settings_with_timeout(&self, timeout: Duration) -> KafkaSettings {
        let timeout = i64::try_from(timeout.as_millis()).unwrap();
        let properties = [("message.timeout.ms", timeout), ("reconnect.backoff.max.ms", 200)];
        let properties = properties.map(|(name, value)| (name.to_owned(), KafkaProperty::Number(value)));
        KafkaSettings {
            brokers: self.mock.bootstrap_servers(),
            what: vec![Topic::Events],
            spool: self.folder.path("spool"),
            properties: BTreeMap::from(properties),
            ..KafkaSettings::default()
        }
    }

    /// A connection without a spool.
    pub(super) fn kafka(&self) -> Kafka {
        Kafka::new(&self.settings()).unwrap()
    }

    /// A broker closes its connections and accepts no new ones.
    pub(super) fn go(&self, broker: i32) {
        let addresses = self.mock.bootstrap_servers();
        let address = addresses.split(',').nth(usize::try_from(broker - 1).unwrap()).unwrap();
        let port = TcpSocket::new_v4().unwrap();
        // Two sockets may share a port in this way as long as neither listens.
        port.set_reuseaddr(true).unwrap();
        self.mock.broker_down(broker).unwrap();
        port.bind(address.parse().unwrap()).unwrap();
        self.ports.borrow_mut().insert(broker, port);
    }

    pub(super) fn come(&self, broker: i32) {
        self.mock.broker_up(broker).unwrap();
        self.ports.borrow_mut().remove(&broker);
    }

    /// The next produce requests get these errors, one each.
    pub(super) fn answer(&self, errors: &[RDKafkaRespErr]) {
        self.mock.request_errors(RDKafkaApiKey::Produce, errors);
    }

    /// Delays the acknowledgements of a broker.
    pub(super) fn delay(&self, broker: i32, delay: Duration) {
        self.mock.broker_round_trip_time(broker, delay).unwrap();
    }

    /// The keys of the messages that arrived, at least `least`, in the order of each partition.
    pub(super) fn keys(&self, least: usize) -> Vec<String> {
        self.messages(least).into_iter().map(|found| found.key).collect()
    }

    /// The messages that arrived, at least `least`, in the order of each partition.
    pub(super) fn messages(&self, least: usize) -> Vec<Found> {
        let brokers = self.mock.bootstrap_servers();
        let consumer: BaseConsumer =
            ClientConfig::new().set("bootstrap.servers", brokers).set("group.id", "test").create().unwrap();
        let mut partitions = TopicPartitionList::new();
        for partition in 0..self.partitions {
            partitions.add_partition_offset(TOPIC, partition, Offset::Beginning).unwrap();
        }
        consumer.assign(&partitions).unwrap();
        let mut deadline = Instant::now() + PATIENCE;
        let mut found = Vec::new();
        while Instant::now() < deadline {
            let Some(message) = consumer.poll(Duration::from_millis(50)) else { continue };
            let message = message.unwrap();
            let key = str::from_utf8(message.key().unwrap()).unwrap().to_owned();
            let line: Value = serde_json::from_slice(message.payload().unwrap()).unwrap();
            assert_eq!(line["key"], key);
            let header = message.headers().unwrap().get_as::<str>(0).unwrap();
            assert_eq!(header.key, "id");
            let (id, partition) = (header.value.unwrap().to_owned(), message.partition());
            found.push(Found { id, key, partition });
            if found.len() == least {
                // None may arrive twice.
                deadline = Instant::now() + Duration::from_millis(500);
            }
        }
        assert!(found.len() >= least, "{} of {least}", found.len());
        found.sort_by_key(|found| found.partition);
        found
    }
}

const TOPIC: &str = "inband.events";
