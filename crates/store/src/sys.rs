//! The unsafe interface to SQLite: virtual tables and the memory limit.
#![allow(unsafe_code)]

mod table;

use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::ffi;

pub(crate) use table::add_table;

/// Limits SQLite's memory in this process. The largest limit ever requested applies, so that one question
/// cannot take away another's memory.
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

/// Minimum limit, bytes.
const MIN_HEAP: usize = 32 << 20;
