//! Does reading and writing capture files hold for any bytes?
#![no_main]

#[path = "../bodies/capture.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::capture(input));
