//! Reads arbitrary bytes as a capture file and writes it back.
#![no_main]

#[path = "../bodies/capture.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::capture(input));
