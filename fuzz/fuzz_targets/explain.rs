//! Explains arbitrary bytes as a report.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::explain_bytes(input));
