//! The largest packet that passes.

use crate::error::HostError;

/// The precision of the size, bytes.
const STEP: u32 = 8;

/// The largest length that passes between `least`, which does, and `most`, rounded down; where one length
/// fails, larger ones are assumed to fail.
pub(super) fn largest(
    least: u32,
    most: u32,
    passes: &mut impl FnMut(u32) -> Result<bool, HostError>,
) -> Result<u32, HostError> {
    if most <= least || passes(most)? {
        return Ok(most.max(least));
    }
    let (mut passed, mut failed) = (least, most);
    while failed - passed > STEP {
        let middle = passed + (failed - passed) / 2;
        match passes(middle)? {
            true => passed = middle,
            false => failed = middle,
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::{STEP, largest};

    #[test]
    fn the_largest_length_that_passes_is_found_within_a_step() {
        for limit in [400, 401, 1280, 1419, 1420, 1499, 1500, 9000] {
            let mut tried = 0;
            let mut passes = |length| {
                tried += 1;
                Ok(length <= limit)
            };
            let found = largest(400, 1500, &mut passes).unwrap();
            assert!(found <= limit.min(1500) && limit.min(1500) - found < STEP, "{limit}: {found}");
            assert!(tried <= 9, "{limit}: {tried}");
        }
    }
}
