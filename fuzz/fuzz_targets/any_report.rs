//! Does reading telemetry reports of every version hold for any bytes?
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::any_report(input));
