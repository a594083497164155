//! Reads arbitrary bytes as telemetry reports of every version.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::any_report(input));
