//! Does walking through tunnels and INT headers hold for any bytes?
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::dissect(input));
