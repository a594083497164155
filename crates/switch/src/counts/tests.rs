use super::{Cause, Table};

#[test]
fn drops_have_the_codes_of_the_table_as_where_linux_forwards() {
    use Table::{P4langSwitch, SdFabric1_1, SwitchP4_16};
    for (cause, table, code) in [
        (Cause::QueueFull, SdFabric1_1, 71),
        (Cause::NoRoute, SdFabric1_1, 29),
        (Cause::RouteUnreachable, SdFabric1_1, 29),
        (Cause::RouteProhibit, SdFabric1_1, 80),
        (Cause::RouteBlackhole, SdFabric1_1, 170),
        (Cause::RouteBlackhole, SwitchP4_16, 53),
        (Cause::TtlExceeded, SdFabric1_1, 26),
        (Cause::TtlExceeded, P4langSwitch, 31),
        (Cause::TooBig, SdFabric1_1, 200),
        (Cause::TooBig, P4langSwitch, 50),
        (Cause::NeighbourUnresolved, SwitchP4_16, 93),
    ] {
        assert_eq!(cause.code(table, false), Some(code), "{cause:?} {table:?}");
    }
    assert_eq!(Cause::RouteBlackhole.code(SdFabric1_1, true), Some(171));
    assert_eq!(Cause::SameInterface.code(SdFabric1_1, false), None);
}

#[test]
fn causes_stand_in_the_order_of_their_counts() {
    for (place, cause) in Cause::ALL.into_iter().enumerate() {
        assert_eq!(cause as usize, place, "{cause:?}");
    }
}
