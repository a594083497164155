use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert_eq, proptest};
use proptest::sample::select;

use crate::int::instruction::Instructions;
use crate::int::metadata::HopMetadata;
use crate::int::stack::MetadataStack;
use crate::words::Words;

/// Previous metadata in the buffer.
const FILLED: HopMetadata = HopMetadata {
    node_id: Some(0xa5),
    hop_latency: Some(0xa5),
    egress_timestamp: Some(0xa5),
    checksum_complement: Some(0xa5),
    ..HopMetadata::NONE
};

proptest! {
    #[test]
    fn hops_read_at_once_say_what_each_says_alone(
        bitmap in any::<u16>(),
        extra_words in 0..3_u8,
        hop_count in 0..9_u8,
        // All ones are frequent, since they mean "not available".
        bytes in vec(select(vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x5a]), 0..700),
        fewer_places in 0..3_usize,
    ) {
        let instructions = Instructions(bitmap);
        let hop_ml = Words::new(instructions.words().count() + extra_words);
        let stack_words = Words::new(hop_ml.count().saturating_mul(hop_count));
        let stack = MetadataStack::new(&bytes, stack_words, Words::default(), instructions, hop_ml);

        let mut together = vec![FILLED; stack.visible_hop_count().saturating_sub(fewer_places)];
        stack.fill(&mut together);

        let mut alone: Vec<HopMetadata> = stack.hops().map(|hop| hop.metadata()).collect();
        prop_assert_eq!(stack.visible_hop_count(), alone.len());
        alone.truncate(together.len());
        alone.reverse();
        prop_assert_eq!(together, alone);
    }
}
