//! Bursts, refills, and clocks that go back.

use super::TokenBucket;

fn takes(bucket: &mut TokenBucket) -> usize {
    (0..10_000).take_while(|_| bucket.take()).count()
}

#[test]
fn a_second_holds_so_many_tokens_however_long_nobody_took_one() {
    for per_second in [1, 3, 10, 1000] {
        let mut bucket = TokenBucket::new(per_second);
        let expected = usize::try_from(per_second).expect("a small number");
        assert_eq!(takes(&mut bucket), expected);
        bucket.advance(5);
        bucket.advance(u64::MAX);
        assert_eq!(takes(&mut bucket), expected);
    }
}

#[test]
fn half_a_second_saves_half_the_tokens() {
    let mut bucket = TokenBucket::new(10);
    bucket.advance(7_000_000_000);
    takes(&mut bucket);
    bucket.advance(7_500_000_000);
    assert_eq!(takes(&mut bucket), 5);
}

#[test]
fn a_clock_that_goes_back_saves_nothing() {
    let mut bucket = TokenBucket::new(10);
    bucket.advance(7_000_000_000);
    takes(&mut bucket);
    bucket.advance(1_000_000_000);
    assert_eq!(takes(&mut bucket), 0);
    bucket.advance(1_100_000_000);
    assert_eq!(takes(&mut bucket), 1);
}

#[test]
fn a_bucket_in_use_earns_a_token_when_its_cost_has_passed() {
    for per_second in [1, 4, 1000] {
        let mut bucket = TokenBucket::new(per_second);
        assert_eq!(
            (0..2 * per_second).filter(|_| bucket.take_at(5)).count(),
            usize::try_from(per_second).unwrap()
        );
        let cost = 1_000_000_000 / u64::from(per_second);
        assert!(!bucket.take_at(5 + cost - 1));
        assert!(bucket.take_at(5 + cost));
    }
}

#[test]
fn even_the_fastest_bucket_can_be_empty() {
    let mut bucket = TokenBucket::new(u32::MAX);
    bucket.saved_ns = 2;
    assert_eq!(takes(&mut bucket), 2);
}
