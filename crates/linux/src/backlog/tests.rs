use super::sum;

const TWO_PROCESSORS: &str = "030291f1 000000f8 0000001b 00000000\n0110e6f0 000002f3 00000005 00000000\n";

#[test]
fn drops_of_all_processors_are_added() {
    assert_eq!(sum(TWO_PROCESSORS), Some(0xf8 + 0x2f3));
    assert_eq!(sum("00000001\n"), None, "a kernel that counts something else");
    assert_eq!(sum("00000001 1ffffffffffffffff\n"), None);
}
