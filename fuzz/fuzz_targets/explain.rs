//! Does explaining a report hold for any bytes?
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::explain_bytes(input));
