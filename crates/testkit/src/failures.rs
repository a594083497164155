//! How is a random case that failed run again?

/// Where the properties of a test keep the seeds of cases that failed: in `failures.txt` of the target's `tmp` directory.
///
/// A failure prints its seed as a line `cc …` and the least input that fails; the next run begins with every seed of the
/// file. A line from another machine's run, put into the file, is a case like any other.
///
/// ```
/// // Cargo names the directory to integration tests only, so here it stands for itself.
/// let kept = inband_testkit::kept_failures!("target/tmp");
/// assert!(kept.is_some());
/// ```
#[macro_export]
macro_rules! kept_failures {
    () => {
        $crate::kept_failures!(env!("CARGO_TARGET_TMPDIR"))
    };
    ($directory:expr) => {{
        let file =
            ::proptest::test_runner::FileFailurePersistence::Direct(concat!($directory, "/failures.txt"));
        let kept: Option<Box<dyn ::proptest::test_runner::FailurePersistence>> = Some(Box::new(file));
        kept
    }};
}
