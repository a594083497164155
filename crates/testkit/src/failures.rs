//! Persistence of failed random cases.

/// Keeps the seeds of failed property cases in `failures.txt` of the target's `tmp` directory.
///
/// A failure prints its seed as a line `cc …` and the minimal failing input; the next run starts with every
/// seed of the file. A line copied from another machine's run works too.
///
/// ```
/// // Cargo sets the directory for integration tests only, so it is given here.
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
