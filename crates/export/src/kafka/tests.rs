//! Tests that a cluster gets every message once, even when its broker goes away and returns.

mod cluster;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use inband_model::{Event, Output, Phase};
use rdkafka::types::RDKafkaRespErr;

use super::{Kafka, start};
use crate::answer::Answer;
use crate::broker::{Broker, Delivery, Parcel};
use crate::brokers::{KafkaProperty, KafkaSettings};
use crate::delivery::Export;
use crate::message::{Topic, Topics};
use crate::sample::{event, wait_for};
use crate::stage::Stage;
use crate::tally::Tally;

use self::cluster::Cluster;

#[test]
fn every_message_is_there_once_though_the_broker_goes_and_comes_back() {
    let cluster = Cluster::new(1);
    let mut output = Running::start(&cluster);
    output.tell(0..500);
    wait_for(&output.tally, |ledger| ledger.exported == 500);

    cluster.go(1);
    output.tell(500..1_000);
    let away = wait_for(&output.tally, |ledger| ledger.trouble.is_some() && ledger.waiting == 500);
    assert!(away.balances() && away.spool_bytes > 0);
    assert!(away.trouble.unwrap().contains("Connect"), "it says what is seen of the broker");

    cluster.come(1);
    let back = wait_for(&output.tally, |ledger| ledger.exported == 1_000);
    assert_eq!((back.waiting, back.export_failed, back.trouble), (0, 0, None));
    assert_eq!(cluster.keys(1_000), expected(0..1_000));
}

#[test]
fn a_broker_that_goes_while_messages_are_on_their_way_gets_none_twice() {
    let cluster = Cluster::new(1);
    let mut output = Running::start(&cluster);
    for round in 0..5 {
        output.tell(round * 2_000..(round + 1) * 2_000);
        wait_for(&output.tally, |ledger| ledger.exported > u64::from(round) * 2_000);
        cluster.go(1);
        sleep(Duration::from_millis(100));
        cluster.come(1);
    }
    let ledger = wait_for(&output.tally, |ledger| ledger.waiting == 0);
    assert_eq!((ledger.exported, ledger.export_failed), (10_000, 0));
    assert_eq!(cluster.keys(10_000), expected(0..10_000));
}

#[test]
fn a_broker_that_is_not_there_at_the_start_gets_everything_later() {
    let cluster = Cluster::new(1);
    cluster.go(1);
    let mut output = Running::start(&cluster);
    output.tell(0..100);
    wait_for(&output.tally, |ledger| ledger.trouble.is_some() && ledger.waiting == 100);
    cluster.come(1);
    wait_for(&output.tally, |ledger| ledger.exported == 100);
    assert_eq!(cluster.keys(100), expected(0..100));
}

#[test]
fn what_a_broker_answers_for_a_while_costs_no_message() {
    let cluster = Cluster::new(1);
    let mut output = Running::start(&cluster);
    // Errors after which the client retries by itself, and those after which we do.
    let errors = [
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_INVALID_MSG,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
    ];
    for (round, error) in (0..).zip(errors) {
        cluster.answer(&[error, error]);
        output.tell(round * 50..(round + 1) * 50);
        wait_for(&output.tally, |ledger| ledger.exported == u64::from(round + 1) * 50);
    }
    let all = 50 * u32::try_from(errors.len()).unwrap();
    let ledger = wait_for(&output.tally, |ledger| ledger.waiting == 0);
    assert_eq!((ledger.export_failed, ledger.trouble), (0, None));
    // The client may send the next request before it has heard that the first was refused.
    let sorted = |mut keys: Vec<String>| {
        keys.sort_unstable();
        keys
    };
    assert_eq!(sorted(cluster.keys(all.try_into().unwrap())), sorted(expected(0..all)));
}

#[test]
fn what_is_too_large_is_refused_and_the_rest_is_sent() {
    let cluster = Cluster::new(1);
    let mut kafka = cluster.kafka();
    let delivery = kafka.deliver(&[parcel(1, 0), parcel(2, 2 << 20), parcel(3, 0)], PATIENCE);
    assert_eq!(delivery.acknowledged, 1);
    assert!(matches!(&delivery.next, Answer::Refused(why) if why.contains("size")), "{delivery:?}");
    assert_taken(&kafka.deliver(&[parcel(3, 0)], PATIENCE), 1);
    assert_eq!(cluster.keys(2), ["1", "3"]);
}

#[test]
fn what_the_broker_finds_too_large_is_found_among_those_that_came_with_it() {
    let cluster = Cluster::new(1);
    let mut kafka = cluster.kafka();
    let too_large = RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    // The broker refuses four messages, then two, then one.
    cluster.answer(&[too_large; 3]);
    let batch = [1, 2, 3, 4].map(|number| parcel(number, 0));
    for _ in 0..2 {
        assert_taken(&kafka.deliver(&batch, PATIENCE), 0);
    }
    let delivery = kafka.deliver(&batch, PATIENCE);
    assert_eq!(delivery.acknowledged, 0);
    assert!(matches!(delivery.next, Answer::Refused(_)), "{delivery:?}");
    let mut rest = &batch[1..];
    while !rest.is_empty() {
        let delivery = kafka.deliver(rest, PATIENCE);
        assert!(delivery.acknowledged > 0 && delivery.next == Answer::Taken, "{delivery:?}");
        rest = &rest[delivery.acknowledged..];
    }
    assert_eq!(cluster.keys(3), ["2", "3", "4"]);
}

#[test]
fn what_is_refused_is_counted_and_the_ledger_balances() {
    let cluster = Cluster::new(1);
    let mut settings = cluster.settings();
    settings.properties.insert("message.max.bytes".to_owned(), KafkaProperty::Number(1_000));
    let mut output = Running::with(&settings);
    output.tell(0..1);
    let long = Event { key: "x".repeat(1_000), ..event(0, Phase::Once) };
    output.export.handle_output(&Output::Event(long));
    output.tell(1..3);
    let ledger = wait_for(&output.tally, |ledger| ledger.waiting == 0);
    assert_eq!((ledger.exported, ledger.failures), (3, [("refused".to_owned(), 1)].into()));
    assert_eq!(cluster.keys(3), expected(0..3));
}

#[test]
fn what_is_not_acknowledged_in_time_is_not_sent_behind_our_back() {
    let cluster = Cluster::new(1);
    // The client by itself would keep trying for as long as its timeout.
    let mut kafka = cluster.kafka();
    assert_taken(&kafka.deliver(&[parcel(1, 0)], PATIENCE), 1);
    cluster.go(1);
    let delivery = kafka.deliver(&[parcel(2, 0), parcel(3, 0)], Duration::from_millis(500));
    assert_eq!(delivery.acknowledged, 0);
    assert!(matches!(delivery.next, Answer::Away { .. }), "{delivery:?}");

    cluster.come(1);
    sleep(Duration::from_secs(2));
    assert_eq!(cluster.keys(1), ["1"], "the client has nothing left");
    let mut rest = &[parcel(3, 0), parcel(4, 0)][..];
    while !rest.is_empty() {
        rest = &rest[kafka.deliver(rest, PATIENCE).acknowledged..];
    }
    assert_eq!(cluster.keys(3), ["1", "3", "4"]);
}

#[test]
fn what_is_acknowledged_too_late_comes_twice_under_one_id() {
    let cluster = Cluster::new(1);
    let mut kafka = cluster.kafka();
    assert_taken(&kafka.deliver(&[parcel(1, 0)], PATIENCE), 1);
    cluster.delay(1, Duration::from_millis(900));
    let delivery = kafka.deliver(&[parcel(2, 0)], Duration::from_millis(300));
    assert!(matches!(delivery.next, Answer::Away { .. }) && delivery.acknowledged == 0, "{delivery:?}");
    cluster.delay(1, Duration::ZERO);
    for number in [2, 3] {
        // On a busy machine it may be late once more.
        let taken = (0..10).any(|_| kafka.deliver(&[parcel(number, 0)], PATIENCE).next == Answer::Taken);
        assert!(taken, "{number}");
    }
    let mut ids: Vec<_> = cluster.messages(4).into_iter().map(|found| found.id).collect();
    assert!(ids.iter().filter(|id| *id == "id-2").count() >= 2, "{ids:?}");
    ids.dedup();
    assert_eq!(ids, ["id-1", "id-2", "id-3"]);
}

#[test]
fn what_was_acknowledged_behind_a_message_that_was_not_is_not_sent_again() {
    let cluster = Cluster::new(2);
    // Each broker leads one partition, and the second one is away.
    let mut kafka = cluster.kafka();
    let batch: Vec<_> = (0..32).map(|number| parcel(number, 0)).collect();
    assert_taken(&kafka.deliver(&batch, PATIENCE), 32);
    cluster.go(2);
    let batch: Vec<_> = (32..64).map(|number| parcel(number, 0)).collect();
    let delivery = kafka.deliver(&batch, Duration::from_millis(500));
    assert!(matches!(delivery.next, Answer::Away { .. }) && delivery.acknowledged < 32, "{delivery:?}");
    assert!(!kafka.ahead.is_empty());
    cluster.come(2);
    let mut rest = &batch[delivery.acknowledged..];
    while !rest.is_empty() {
        rest = &rest[kafka.deliver(rest, PATIENCE).acknowledged..];
    }
    assert!(kafka.ahead.is_empty());
    let mut keys: Vec<u32> = cluster.keys(64).iter().map(|key| key.parse().unwrap()).collect();
    keys.sort_unstable();
    assert_eq!(keys, (0..64).collect::<Vec<_>>());
}

#[test]
fn messages_of_one_key_stay_in_order_in_one_partition() {
    let cluster = Cluster::with_partitions(1, 2);
    let mut kafka = cluster.kafka();
    let batch: Vec<_> = (0..400)
        .map(|number| {
            let key = format!("flow {}", number % 20);
            let body = format!("{{\"key\":\"{key}\"}}").into_bytes();
            Parcel { key, body, ..parcel(number, 0) }
        })
        .collect();
    assert_taken(&kafka.deliver(&batch, PATIENCE), 400);
    let mut seen = BTreeMap::<String, Vec<(i32, u32)>>::new();
    for found in cluster.messages(400) {
        let number = found.id.strip_prefix("id-").unwrap().parse().unwrap();
        seen.entry(found.key).or_default().push((found.partition, number));
    }
    assert_eq!(seen.len(), 20);
    let partitions: Vec<_> = seen.values().map(|found| found[0].0).collect();
    assert!(partitions.contains(&0) && partitions.contains(&1));
    for found in seen.values() {
        assert!(found.iter().all(|(partition, _)| *partition == found[0].0), "{found:?}");
        assert!(found.is_sorted_by_key(|(_, number)| *number), "{found:?}");
    }
}

#[test]
fn what_is_built_in_of_sasl_and_compression_can_be_set() {
    let cluster = Cluster::new(1);
    let properties = [
        ("security.protocol", "sasl_plaintext"),
        ("sasl.mechanism", "PLAIN"),
        ("sasl.username", "collector"),
        ("sasl.password", "secret"),
    ];
    let text = |value: &str| KafkaProperty::Text(value.to_owned());
    let properties = properties.map(|(name, value)| (name.to_owned(), text(value))).into();
    Kafka::new(&KafkaSettings { properties, ..cluster.settings() }).unwrap();
    for compression in ["none", "snappy", "lz4"] {
        let cluster = Cluster::new(1);
        let mut settings = cluster.settings();
        settings.properties.insert("compression.type".to_owned(), text(compression));
        let mut kafka = Kafka::new(&settings).unwrap();
        assert_taken(&kafka.deliver(&[parcel(1, 5_000)], PATIENCE), 1);
        assert_eq!(cluster.keys(1), ["1"], "{compression}");
    }
}

#[test]
fn a_setting_that_cannot_be_is_told_at_once() {
    let cluster = Cluster::new(1);
    let with = |name: &str, value: &str| {
        let properties = BTreeMap::from([(name.to_owned(), KafkaProperty::Text(value.to_owned()))]);
        KafkaSettings { properties, ..cluster.settings() }
    };
    let topic = |topic: &str| KafkaSettings { topic: topic.to_owned(), ..cluster.settings() };
    let brokers = |brokers: &str| KafkaSettings { brokers: brokers.to_owned(), ..cluster.settings() };
    for (settings, what) in [
        // The client would connect to port 34463.
        (brokers("127.0.0.1:99999"), "brokers = \"127.0.0.1:99999\""),
        (brokers("127.0.0.1:9092,"), "HOST:PORT"),
        (brokers("kafka://127.0.0.1:9092"), "HOST:PORT"),
        (brokers("[::1]:0"), "HOST:PORT"),
        (with("no.such", "1"), "no.such"),
        (with("linger.ms", "soon"), "linger.ms"),
        (with("acks", "0"), "acks"),
        // Features that are not built in.
        (with("security.protocol", "ssl"), "security.protocol"),
        (with("compression.type", "zstd"), "compression.type"),
        (with("bootstrap.servers", "127.0.0.1:1"), "\"bootstrap.servers\" cannot be set here"),
        (with("delivery.report.only.error", "true"), "cannot be set here"),
        (with("test.mock.num.brokers", "3"), "cannot be set here"),
        (topic(""), "topic = \"\""),
        (topic("in band"), "topic = \"in band\""),
        (topic(&"x".repeat(240)), "is not the beginning"),
    ] {
        let error = start(&settings, &Arc::default(), Arc::new(Tally::new("kafka".to_owned())))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("kafka: ") && error.contains(what), "{error}");
    }
}

#[test]
fn brokers_are_hosts_with_or_without_a_port() {
    let cluster = Cluster::new(1);
    for brokers in ["kafka", "kafka:9092, 10.0.0.1:9092", "[fd00::1]:9092", "fd00::1"] {
        let settings = KafkaSettings { brokers: brokers.to_owned(), ..cluster.settings() };
        assert!(super::client::config(&settings).is_ok(), "{brokers}");
    }
}

#[test]
fn settings_that_hide_the_fate_of_a_message_are_refused() {
    let cluster = Cluster::new(1);
    let with = |properties: &[(&str, KafkaProperty)]| {
        let mut settings = cluster.settings();
        let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        settings.properties.extend(properties);
        settings
    };
    let text = |text: &str| KafkaProperty::Text(text.to_owned());
    let off = ("enable.idempotence", KafkaProperty::Flag(false));
    for (refused, what) in [
        (vec![off.clone(), ("acks", KafkaProperty::Number(0))], "properties: acks = 0: "),
        (vec![off.clone(), ("acks", text("0"))], "properties: acks = 0: "),
        (vec![off.clone(), ("acks", text(" 0x0 "))], "properties: acks = "),
        (vec![off.clone(), ("request.required.acks", KafkaProperty::Number(0))], "request.required.acks"),
        (vec![off.clone(), ("topic.acks", KafkaProperty::Number(0))], "topic.acks"),
        (vec![("message.timeout.ms", KafkaProperty::Number(0))], "properties: message.timeout.ms = 0: "),
        (vec![("delivery.timeout.ms", text("0"))], "delivery.timeout.ms"),
        (vec![off.clone(), ("queuing.strategy", text("lifo"))], "queuing.strategy"),
        (vec![("enabled_events", KafkaProperty::Number(0))], "\"enabled_events\" cannot be set here"),
        (vec![("topic.transactional.id", text("a"))], "cannot be set here"),
    ] {
        let error = start(&with(&refused), &Arc::default(), Arc::new(Tally::new("kafka".to_owned())))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("kafka: ") && error.contains(what), "{refused:?}: {error}");
    }
    for taken in [
        vec![off.clone(), ("acks", KafkaProperty::Number(1))],
        vec![("acks", text("all")), ("message.timeout.ms", KafkaProperty::Number(1))],
        vec![off, ("acks", KafkaProperty::Number(-1))],
    ] {
        Kafka::new(&with(&taken)).unwrap();
    }
}

fn assert_taken(delivery: &Delivery, messages: usize) {
    assert_eq!((delivery.acknowledged, &delivery.next), (messages, &Answer::Taken));
}

fn parcel(number: u32, bytes: usize) -> Parcel {
    Parcel {
        id: format!("id-{number}"),
        topic: Topic::Events,
        key: number.to_string(),
        body: format!("{{\"key\":\"{number}\"{}}}", " ".repeat(bytes)).into_bytes(),
    }
}

/// The keys of [`Running::tell`].
fn expected(nodes: Range<u32>) -> Vec<String> {
    nodes.map(|node| format!("node {node}")).collect()
}

/// An output to a cluster.
struct Running {
    export: Export<Topics>,
    tally: Arc<Tally>,
}

impl Running {
    fn start(cluster: &Cluster) -> Running {
        Running::with(&cluster.impatient_settings())
    }

    fn with(settings: &KafkaSettings) -> Running {
        let tally = Arc::new(Tally::new("kafka".to_owned()));
        let export = start(settings, &Arc::default(), Arc::clone(&tally)).unwrap();
        Running { export, tally }
    }

    fn tell(&mut self, nodes: Range<u32>) {
        for node in nodes {
            self.export.handle_output(&Output::Event(event(node, Phase::Once)));
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(60);
