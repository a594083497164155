//! What is the client told?

use rdkafka::config::ClientConfig;
use rdkafka::error::KafkaError;
use rdkafka::producer::BaseProducer;

use super::heard::Heard;
use crate::brokers::KafkaSettings;
use crate::message::Topic;

/// The settings of the client: ours, and above them those of the user.
pub(super) fn config(settings: &KafkaSettings) -> Result<ClientConfig, String> {
    let mut config = ClientConfig::new();
    for (name, value) in OURS {
        config.set(*name, *value);
    }
    for (name, value) in &settings.properties {
        // The client takes properties of topics with this prefix as well.
        let plain = name.strip_prefix("topic.").unwrap_or(name);
        if RESERVED.contains(&plain) || plain.starts_with("test.") {
            return Err(format!("properties: \"{name}\" cannot be set here"));
        }
        let value = value.to_string();
        check_fate(plain, value.trim()).map_err(|why| format!("properties: {name} = {value}: {why}"))?;
        config.set(name, value);
    }
    config.set("bootstrap.servers", &settings.brokers);
    Ok(config)
}

/// Refuses a value with which the client would say that a message is delivered before a broker has it, or would say
/// nothing of it, or would send messages out of their order.
fn check_fate(name: &str, value: &str) -> Result<(), &'static str> {
    let is_fine = match name {
        "acks" | "request.required.acks" => matches!(value, "all" | "-1" | "1"),
        "message.timeout.ms" | "delivery.timeout.ms" => value.parse().is_ok_and(|ms: i64| ms > 0),
        "queuing.strategy" => value == "fifo",
        _ => true,
    };
    match (is_fine, name) {
        (true, _) => Ok(()),
        (false, "queuing.strategy") => Err("messages would leave their order; \"fifo\" keeps it"),
        (false, "message.timeout.ms" | "delivery.timeout.ms") => {
            Err("the fate of a message has to be known after a time above 0")
        }
        (false, _) => Err("a broker has to acknowledge messages: \"all\", -1 or 1"),
    }
}

/// A client; it connects by itself.
pub(super) fn make(config: &ClientConfig) -> Result<BaseProducer<Heard>, String> {
    config.create_with_context(Heard::default()).map_err(|error| match error {
        // The value, which may be a password, is not told.
        KafkaError::ClientConfig(_, why, name, _) => format!("properties: {name}: {why}"),
        KafkaError::ClientCreation(why) => format!("properties: {why}"),
        other => other.to_string(),
    })
}

/// Names of topics have few letters, and an end.
pub(super) fn check_topic(prefix: &str) -> Result<(), String> {
    let longest = Topic::ALL.iter().map(|topic| topic.name().len()).max().unwrap_or(0);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if prefix.is_empty() || !prefix.chars().all(is_letter) || prefix.len() + 1 + longest > MAX_TOPIC_BYTES {
        return Err(format!("topic = \"{prefix}\" is not the beginning of a topic's name"));
    }
    Ok(())
}

/// What is set where the user does not say otherwise.
const OURS: &[(&str, &str)] = &[
    ("client.id", "inband"),
    ("acks", "all"),
    ("enable.idempotence", "true"),
    ("message.timeout.ms", "8000"),
    ("compression.type", "lz4"),
    // So that a key is in the partition where the clients in Java put it.
    ("partitioner", "murmur2_random"),
    ("socket.keepalive.enable", "true"),
    // A server that is restarted is found again soon.
    ("reconnect.backoff.max.ms", "2000"),
];

/// What says where messages go has a setting of its own; with the others the client would not say what became of them.
const RESERVED: &[&str] = &[
    "bootstrap.servers",
    "metadata.broker.list",
    "transactional.id",
    "delivery.report.only.error",
    "enabled_events",
];

/// Longest name of a topic.
const MAX_TOPIC_BYTES: usize = 249;
