//! Quotas are spent, exhausted and refilled, separately for each queue.

use crate::config::SmartConfig;

use super::{Congestion, Queues, Quotas};

/// Thresholds with their quotas.
struct Watched(Queues, Quotas);

impl Watched {
    fn observe(&mut self, egress: u16, queue: u8, latency_ns: u32) -> Congestion {
        self.1.observe(&self.0, (egress, queue), latency_ns)
    }

    fn overflow(&mut self, egress: u16, queue: u8) -> Congestion {
        self.1.overflow(&self.0, egress, queue)
    }

    fn adopt(&mut self, other: Self) {
        self.0 = other.0;
        self.1.adopt(&self.0);
    }
}

fn queues(text: &str) -> Watched {
    Watched(Queues::new(&toml::from_str::<SmartConfig>(text).unwrap()).unwrap(), Quotas::default())
}

#[test]
fn a_queue_reports_from_its_trigger_on_until_its_quota_is_used_up() {
    // sd-fabric-1.0/queue-02
    let mut queues = queues("queue.0 = { trigger_ns = 2000, quota = 2 }");
    let seen: Vec<_> = [1999, 2000, 5000, 2000, 2000].map(|latency| queues.observe(1, 0, latency)).into();
    let (none, reported, over) = (Congestion::None, Congestion::Reported, Congestion::OverQuota);
    assert_eq!(seen, [none, reported, reported, over, over]);
}

#[test]
fn the_quota_is_filled_up_below_the_reset_and_not_between_the_thresholds() {
    // sd-fabric-1.0/queue-03
    let mut queues = queues("queue.0 = { trigger_ns = 2000, reset_ns = 500, quota = 1 }");
    assert_eq!(queues.observe(1, 0, 2000), Congestion::Reported);
    for latency in [1999, 500] {
        queues.observe(1, 0, latency);
        assert_eq!(queues.observe(1, 0, 2000), Congestion::OverQuota, "after {latency}");
    }
    queues.observe(1, 0, 499);
    assert_eq!(queues.observe(1, 0, 2000), Congestion::Reported);
}

#[test]
fn the_reset_is_half_the_trigger_where_it_is_not_given() {
    // sd-fabric-1.0/queue-04
    let mut queues = queues("queue.0 = { trigger_ns = 2000, quota = 1 }");
    queues.observe(1, 0, 2000);
    queues.observe(1, 0, 1000);
    assert_eq!(queues.observe(1, 0, 2000), Congestion::OverQuota);
    queues.observe(1, 0, 999);
    assert_eq!(queues.observe(1, 0, 2000), Congestion::Reported);
}

#[test]
fn the_quota_is_1024_where_it_is_not_given() {
    // sd-fabric-1.0/queue-05
    let mut queues = queues("queue.0 = { trigger_ns = 2000 }");
    let reported = (0..1030).filter(|_| queues.observe(1, 0, 2000) == Congestion::Reported).count();
    assert_eq!(reported, 1024);
}

#[test]
fn every_interface_and_queue_has_its_own_quota_and_maybe_thresholds() {
    // sd-fabric-1.0/queue-01
    let mut queues = queues(
        "queue.0 = { trigger_ns = 2000, quota = 1 }\n\
         queue.1 = { trigger_ns = 2000, quota = 1 }\n\
         interface.7.queue.0 = { trigger_ns = 9000, quota = 1 }",
    );
    for (egress, queue) in [(1, 0), (1, 1), (2, 0)] {
        assert_eq!(queues.observe(egress, queue, 2000), Congestion::Reported, "{egress} {queue}");
    }
    assert_eq!(queues.observe(7, 0, 8999), Congestion::None);
    assert_eq!(queues.observe(7, 0, 9000), Congestion::Reported);
    assert_eq!(queues.observe(7, 2, u32::MAX), Congestion::None, "a queue that nobody watches");
}

#[test]
fn a_tail_drop_spends_the_quota_whatever_the_latency() {
    let mut queues = queues("queue.0 = { trigger_ns = 2000, quota = 1 }");
    assert_eq!(queues.overflow(1, 0), Congestion::Reported);
    assert_eq!(queues.overflow(1, 0), Congestion::OverQuota);
    assert_eq!(queues.overflow(1, 1), Congestion::None);
}

#[test]
fn other_thresholds_keep_quotas_in_use() {
    let mut queues = self::queues("queue.0 = { trigger_ns = 2000, quota = 5 }");
    queues.observe(1, 0, 2000);
    queues.observe(1, 0, 2000);
    queues.adopt(self::queues("queue.0 = { trigger_ns = 100, quota = 4 }"));
    let seen: Vec<_> = (0..4).map(|_| queues.observe(1, 0, 100)).collect();
    assert_eq!(seen[2..], [Congestion::Reported, Congestion::OverQuota]);
}

#[test]
fn thresholds_that_make_no_sense_are_refused_by_their_key() {
    for (text, key) in [
        ("queue.0 = { trigger_ns = 10, reset_ns = 11 }", "smart.queue.0.reset_ns"),
        ("queue.256 = { trigger_ns = 10 }", "smart.queue.256"),
        ("queue.x = { trigger_ns = 10 }", "smart.queue.x"),
        ("interface.x.queue.0 = { trigger_ns = 10 }", "smart.interface.x"),
        ("interface.1.queue.300 = { trigger_ns = 10 }", "smart.interface.1.queue.300"),
    ] {
        let config = toml::from_str::<SmartConfig>(text).unwrap();
        assert_eq!(Queues::new(&config).unwrap_err().key(), key);
    }
}
