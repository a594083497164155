//! The client and its settings.

use rdkafka::config::ClientConfig;
use rdkafka::error::KafkaError;
use rdkafka::producer::BaseProducer;

use super::heard::Heard;
use crate::brokers::KafkaSettings;
use crate::message::Topic;

/// The client's settings: our defaults, overridden by those of the user.
pub(super) fn config(settings: &KafkaSettings) -> Result<ClientConfig, String> {
    let mut config = ClientConfig::new();
    for (name, value) in OURS {
        config.set(*name, *value);
    }
    for (name, value) in &settings.properties {
        // The client accepts topic properties with this prefix too.
        let plain = name.strip_prefix("topic.").unwrap_or(name);
        if RESERVED.contains(&plain) || plain.starts_with("test.") {
            return Err(format!("properties: \"{name}\" cannot be set here"));
        }
        let value = value.to_string();
        check_fate(plain, value.trim()).map_err(|why| format!("properties: {name} = {value}: {why}"))?;
        config.set(name, value);
    }
    check_brokers(&settings.brokers)?;
    config.set("bootstrap.servers", &settings.brokers);
    Ok(config)
}

/// Checks that each broker is a host, with a port from 1 to 65535 or none; of a larger port the client would
/// use the lower 16 bits.
fn check_brokers(brokers: &str) -> Result<(), String> {
    let is_broker = |broker: &str| {
        // An address of IPv6 without a port may have no brackets.
        let (host, port) = match broker.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
            _ => (broker, None),
        };
        let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        !host.is_empty() && !host.contains(['/', ' ']) && port.is_none_or(is_port)
    };
    match brokers.split(',').map(str::trim).all(is_broker) {
        true => Ok(()),
        false => Err(format!("brokers = \"{brokers}\": each has to be HOST:PORT, with commas between them")),
    }
}

/// Refuses a value with which the client would report delivery before a broker has the message, report none,
/// or reorder messages.
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

/// Makes a client; it connects by itself.
pub(super) fn make(config: &ClientConfig) -> Result<BaseProducer<Heard>, String> {
    config.create_with_context(Heard::default()).map_err(|error| match error {
        // The value is not shown: it may be a password.
        KafkaError::ClientConfig(_, why, name, _) => format!("properties: {name}: {why}"),
        KafkaError::ClientCreation(why) => format!("properties: {why}"),
        other => other.to_string(),
    })
}

/// Checks that topic names with this prefix have allowed characters and an allowed length.
pub(super) fn check_topic(prefix: &str) -> Result<(), String> {
    let longest = Topic::ALL.iter().map(|topic| topic.name().len()).max().unwrap_or(0);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if prefix.is_empty() || !prefix.chars().all(is_letter) || prefix.len() + 1 + longest > MAX_TOPIC_BYTES {
        return Err(format!("topic = \"{prefix}\" is not the beginning of a topic's name"));
    }
    Ok(())
}

/// Our defaults.
const OURS: &[(&str, &str)] = &[
    ("client.id", "inband"),
    ("acks", "all"),
    ("enable.idempotence", "true"),
    ("message.timeout.ms", "8000"),
    ("compression.type", "lz4"),
    // Keys map to the same partitions as with the Java client.
    ("partitioner", "murmur2_random"),
    ("socket.keepalive.enable", "true"),
    // A restarted server is found again soon.
    ("reconnect.backoff.max.ms", "2000"),
];

/// Properties that cannot be set: the destination has its own setting, the others suppress delivery reports.
const RESERVED: &[&str] = &[
    "bootstrap.servers",
    "metadata.broker.list",
    "transactional.id",
    "delivery.report.only.error",
    "enabled_events",
];

/// Maximum length of a topic name, bytes.
const MAX_TOPIC_BYTES: usize = 249;
