//! Reads arbitrary bytes as telemetry reports.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::report(input));
