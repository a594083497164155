//! Reads arbitrary bytes as INT-MD stacks and INT-MX headers.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| inband_testkit::fuzz::md_stack(input));
