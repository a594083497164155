//! Where does this crate speak with C? SQLite's virtual tables and its memory.
#![allow(unsafe_code)]

mod table;

use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::ffi;

pub(crate) use table::add_table;

/// Bounds the memory that SQLite takes in this process: by the largest bound that was ever asked for, since one
/// question must not take another's.
pub(crate) fn limit_heap(bytes: usize) {
    static MOST: AtomicUsize = AtomicUsize::new(MIN_HEAP);
    let bytes = MOST.fetch_max(bytes, Ordering::AcqRel).max(bytes);
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    // SAFETY: the function takes a number, may be called from any thread at any time, and touches no memory of
    // ours.
    unsafe {
        ffi::sqlite3_hard_heap_limit64(bytes);
    }
}

/// What SQLite may take however little is asked for, bytes.
const MIN_HEAP: usize = 32 << 20;
