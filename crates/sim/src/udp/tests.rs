use super::Source;
use crate::flow::{Bursts, UdpTraffic};

const STEADY: UdpTraffic = UdpTraffic { payload_bytes: 100, interval_ns: 10, datagrams: None, bursts: None };

#[test]
fn a_steady_source_sends_at_its_interval_until_its_end() {
    let mut source = Source::new(UdpTraffic { datagrams: Some(3), ..STEADY }, 5, 1);

    let times = send_times(&mut source, 100);

    assert_eq!(times, [5, 15, 25]);
    assert_eq!(source.deadline(), None);
}

#[test]
fn a_datagram_is_not_sent_before_its_time() {
    let mut source = Source::new(STEADY, 5, 1);

    assert_eq!(source.poll_datagram(4), None);
    assert_eq!(source.poll_datagram(5), Some(0));
    assert_eq!(source.poll_datagram(5), None);
}

#[test]
fn an_on_off_source_is_on_for_its_share_of_the_time() {
    let bursts = Bursts { on_ns: 1_000, off_ns: 3_000, regular: false };
    let mut source = Source::new(UdpTraffic { bursts: Some(bursts), ..STEADY }, 0, 1);

    let times = send_times(&mut source, 20_000);

    let gaps = times.windows(2).filter(|pair| pair[1] - pair[0] > 1_000).count();
    let mean_interval = times.last().unwrap() / times.len() as u64;
    assert!(gaps > 100, "{gaps} pauses");
    assert!((36..=44).contains(&mean_interval), "one in four of every 10 ns, not every {mean_interval}");
}

#[test]
fn regular_bursts_begin_in_step() {
    let bursts = Bursts { on_ns: 20, off_ns: 70, regular: true };
    let mut source = Source::new(UdpTraffic { bursts: Some(bursts), ..STEADY }, 0, 1);

    let times = send_times(&mut source, 7);

    assert_eq!(times, [0, 10, 20, 100, 110, 120, 200]);
}

fn send_times(source: &mut Source, most: usize) -> Vec<u64> {
    let next = || {
        let at = source.deadline()?;
        source.poll_datagram(at).map(|_| at)
    };
    std::iter::from_fn(next).take(most).collect()
}
