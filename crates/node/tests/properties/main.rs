//! Properties of every packet, on every path through every INT domain.

mod checksums;
mod earlier;
mod filters;
mod identity;
mod journey;
mod layers;
mod path_mtu;
mod reports;
mod robustness;
mod smart;
mod stack;

use proptest::test_runner::Config;

/// Maximum payload of the arbitrary packets, bytes.
const MAX_PAYLOAD: usize = 1500;

/// Number of cases per property; `PROPTEST_CASES` in the environment overrides it.
fn many() -> Config {
    let cases = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => Config::default().cases,
        None => 5_000,
    };
    Config { cases, failure_persistence: inband_testkit::kept_failures!(), ..Config::default() }
}
