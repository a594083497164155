//! Messages of programs that run for long.

/// Prints a line to stderr. A reader of stderr that is gone is no reason to end.
macro_rules! note {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr().lock(), $($words)*);
    }};
}

pub(crate) use note;
