use super::Random;

#[test]
fn numbers_are_those_of_splitmix64() {
    // The first outputs of the reference implementation for seed 1234567.
    let mut random = Random::new(1_234_567);

    let numbers = [random.number(), random.number(), random.number()];

    assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
}

#[test]
fn bounded_numbers_stay_in_their_bounds_and_reach_both_ends() {
    let mut random = Random::new(7);

    let mut seen = [false; 5];
    for _ in 0..200 {
        seen[usize::try_from(random.below(5)).unwrap()] = true;
        let around = random.around(100);
        assert!((50..150).contains(&around));
    }

    assert_eq!(seen, [true; 5]);
    assert_eq!(random.below(0), 0);
}
