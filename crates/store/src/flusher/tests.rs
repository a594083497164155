use inband_model::{HopColumns, HopRecord};

use crate::batch::Batch;
use crate::memory::Memory;

use super::{MAX_COLUMNS, Signals};

#[test]
fn columns_of_a_batch_that_was_taken_in_come_back_empty() {
    let mut memory = Memory::default();
    let hops = HopColumns::from(&[HopRecord::default(); 3][..]);

    let columns = memory.add(Batch { hops, reports: 3, ..Batch::default() });

    assert!(columns.is_empty());
    assert_eq!(memory.hops.len(), 3);
}

#[test]
fn no_more_columns_are_kept_than_are_filled_again_soon() {
    let signals = Signals::default();
    for _ in 0..2 * MAX_COLUMNS {
        signals.give_columns(HopColumns::default());
    }

    assert_eq!(signals.columns.lock().unwrap().len(), MAX_COLUMNS);
}

#[test]
fn there_are_always_columns_to_take() {
    assert!(Signals::default().take_columns().is_empty());
}
