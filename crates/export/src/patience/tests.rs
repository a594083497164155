use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::{GRACE, Patience};

#[test]
fn an_output_that_decides_is_waited_for_longer_than_the_grace() {
    let patience = Patience::new(Arc::default());
    let began = Instant::now();
    let decisions = || began.elapsed().as_secs();

    let done = patience.wait(decisions, || began.elapsed() > GRACE + GRACE / 5);

    assert!(done);
}

#[test]
fn an_output_that_was_given_up_is_waited_for_when_it_decides_again() {
    let patience = Patience::new(Arc::default());
    let began = Instant::now();
    assert!(!patience.wait(|| 7, || false));
    assert!(began.elapsed() >= GRACE);

    // Later messages do not each wait again.
    let again = Instant::now();
    assert!(!patience.wait(|| 7, || false));
    assert!(again.elapsed() < GRACE);

    let looks = Cell::new(0);
    let third_look = || {
        looks.set(looks.get() + 1);
        looks.get() == 3
    };
    assert!(patience.wait(|| 8, third_look));
}

#[test]
fn an_interrupted_replay_waits_for_nothing() {
    let patience = Patience::new(Arc::new(AtomicBool::new(true)));
    let began = Instant::now();

    assert!(!patience.wait(|| 0, || false));

    assert!(began.elapsed() < GRACE);
}
