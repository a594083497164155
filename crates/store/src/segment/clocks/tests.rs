use proptest::option;
use proptest::prelude::{any, prop_assert_eq, proptest};

use super::{anchors, egress, ingress, offset_of_egress, offset_of_ingress};
use crate::history::ColumnData;

proptest! {
    #[test]
    fn timestamps_come_back_from_their_offsets_whatever_they_are(
        time in 0i64..,
        anchor in 0i64..,
        of_ingress in option::of(0i64..),
        of_egress in option::of(0i64..),
        latency in option::of(0i64..),
        shift in any::<[u8; 4]>(),
    ) {
        let shifted = |number: Option<i64>, by: u8| number.map(|number| number >> (by % 63));
        let anchor = anchor >> (shift[0] % 63);
        let (of_ingress, of_egress) = (shifted(of_ingress, shift[1]), shifted(of_egress, shift[2]));
        let latency = shifted(latency, shift[3]);
        let one = |number: Option<i64>| ColumnData::of_optional_integers([number].into_iter());

        let offsets = [
            of_egress.map(|stamp| offset_of_egress(anchor, stamp)),
            of_ingress.map(|stamp| offset_of_ingress(anchor, of_egress, latency, stamp)),
        ];

        let anchors = anchors(&one(Some(time)), one(Some(time - anchor)));
        let found = egress(&anchors, one(offsets[0]));
        prop_assert_eq!(found.integer(0), of_egress);
        let found = ingress(&anchors, &found, &one(latency), one(offsets[1]));
        prop_assert_eq!(found.integer(0), of_ingress);
    }
}
