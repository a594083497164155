//! Payloads whose every byte can be checked without further knowledge.

/// Fills a payload: a mark, the number of the payload in its flow, and bytes derived from it.
pub(super) fn fill(payload: &mut [u8], number: u64) {
    for (at, byte) in payload.iter_mut().enumerate() {
        *byte = expected(number, at);
    }
}

/// The number of a payload; `None`: one of its bytes is wrong.
pub(super) fn check(payload: &[u8]) -> Option<u64> {
    let number = u64::from_be_bytes(*payload.get(8..)?.first_chunk()?);
    payload.iter().enumerate().all(|(at, byte)| *byte == expected(number, at)).then_some(number)
}

fn expected(number: u64, at: usize) -> u8 {
    match at {
        0..8 => MARK[at],
        8..16 => number.to_be_bytes()[at - 8],
        // Every byte of the number affects the highest byte of the product.
        _ => number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]
            .wrapping_add((at as u64 * 7).to_le_bytes()[0]),
    }
}

const MARK: [u8; 8] = *b"inbandlb";

#[cfg(test)]
mod tests {
    use super::{check, fill};

    #[test]
    fn a_changed_byte_is_seen() {
        let mut payload = [0xa5; 100];
        fill(&mut payload, 70_000);
        assert_eq!(check(&payload), Some(70_000));
        for at in 0..payload.len() {
            let mut changed = payload;
            changed[at] ^= 1;
            assert_eq!(check(&changed), None, "byte {at}");
        }
        assert_eq!(check(&payload[..15]), None);
    }
}
