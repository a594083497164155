//! Costly answers about the present are shared by equal requests; answers about past times are not.

use std::io::Read;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use inband_store::{InterfaceSums, Interfaces};

use super::made::{self, Answers};

/// An archive that is slow to return interfaces, and counts its queries.
#[derive(Debug, Default)]
struct Slow(AtomicU32);

impl Answers for Slow {
    fn interfaces(&self) -> Interfaces {
        let sums =
            InterfaceSums { count: self.0.fetch_add(1, Ordering::AcqRel).into(), ..InterfaceSums::default() };
        thread::sleep(COST);
        // Enough interfaces that the answer is compressed.
        (0..100).map(|interface| ((7, Some(interface)), sums)).collect()
    }
}

#[test]
fn a_costly_answer_of_now_is_made_once_for_all_who_ask_the_same() {
    let slow = Arc::new(Slow::default());
    let system = made::start(Arc::clone(&slow));
    let begin = Barrier::new(CALLERS);
    let answers: Vec<(u16, String)> = thread::scope(|scope| {
        let ask = || {
            begin.wait();
            system.get("/api/v1/map?live=1h")
        };
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(ask)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert!(
        answers.iter().all(|(status, body)| *status == 200 && body.contains("\"interfaces\"")),
        "{answers:?}"
    );
    // The answer is used for three seconds; only a machine that stalls for as long computes it again.
    let made = slow.0.load(Ordering::Acquire);
    assert!((1..=2).contains(&made), "{made} times for {CALLERS} callers");

    // A different request, and one about a time range, have answers of their own.
    system.get("/api/v1/map?live=2h");
    for _ in 0..2 {
        assert_eq!(system.get("/api/v1/map?from=0&to=60000000000").0, 200);
    }
    assert_eq!(slow.0.load(Ordering::Acquire), made + 3);
}

#[test]
fn an_answer_that_is_given_again_says_the_same_to_who_takes_it_packed() {
    let system = made::start(Arc::new(Slow::default()));
    for _ in 0..2 {
        let mut answer = Vec::new();
        let packed = [("Accept-Encoding", "gzip")];
        system.open("get", "/api/v1/map?live=1h", &packed, "").read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        let head = answer.split_once("\r\n\r\n").unwrap().0;
        assert!(head.contains("content-encoding: gzip"), "{head}");
        assert_eq!(head.matches("vary: accept-encoding").count(), 1, "{head}");
    }
    let (status, body) = system.get("/api/v1/map?live=1h");
    assert!(status == 200 && body.starts_with('{'), "{status}");
}

const CALLERS: usize = 8;
/// Time that a query takes.
const COST: Duration = Duration::from_millis(300);
