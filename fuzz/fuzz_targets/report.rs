//! Does reading telemetry reports hold for any bytes?
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::report(input));
