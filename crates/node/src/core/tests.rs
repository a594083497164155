use super::Core;

#[test]
fn the_shares_of_all_cores_add_up_to_the_rate() {
    for count in 1..=u8::MAX {
        for rate in [0, 1, 7, 100, 1_000, u32::MAX] {
            let shares = (0..count).map(|index| Core { index, count }.share(rate));
            assert_eq!(shares.map(u64::from).sum::<u64>(), u64::from(rate), "{rate} on {count} cores");
        }
    }
}
