//! Reader for logs of earlier versions: consecutive frames without a salt.

use super::codec::{self, Decoded};
use super::outcome::Outcome;
use super::version1;
use crate::batch::Batch;
use crate::frame::{HEADER_BYTES, split_frame};

/// Passes the batches of a log to `take`; `None` if the log has a different version.
///
/// After a damaged frame, reading continues where its length field says, if there is a frame.
pub(super) fn decode(log: &[u8], take: &mut impl FnMut(Batch)) -> Option<Outcome> {
    let (_, decode) = VERSIONS.iter().find(|(magic, _)| log.starts_with(*magic))?;
    let mut outcome = Outcome { whole: MAGIC_BYTES, ..Outcome::default() };
    let mut at = MAGIC_BYTES;
    while at < log.len() {
        let found =
            split_frame(&log[at..]).map(|(payload, behind)| (decode(payload), log.len() - behind.len()));
        at = match found {
            Some((Some(Decoded { batch, is_whole }), end)) => {
                take(batch);
                outcome.whole = end;
                outcome.damaged.extend((!is_whole).then_some(at..end));
                end
            }
            Some((None, end)) => {
                outcome.damaged.push(at..end);
                end
            }
            None => match next_frame(log, at) {
                Some(next) => {
                    outcome.damaged.push(at..next);
                    next
                }
                None => break,
            },
        };
    }
    outcome.torn = log.len() - at;
    Some(outcome)
}

/// Whether a log has one of these versions.
pub(super) fn is_one(log: &[u8]) -> bool {
    VERSIONS.iter().any(|(magic, _)| log.starts_with(*magic))
}

/// Offset of the frame after a damaged one.
fn next_frame(log: &[u8], at: usize) -> Option<usize> {
    let length = u32::from_le_bytes(*log[at..].first_chunk()?);
    let next = at.checked_add(HEADER_BYTES)?.checked_add(usize::try_from(length).ok()?)?;
    log.get(next..).and_then(split_frame).map(|_| next)
}

/// Reads a payload.
type Decode = fn(&[u8]) -> Option<Decoded>;

const MAGIC_BYTES: usize = 8;
const VERSIONS: [(&[u8; MAGIC_BYTES], Decode); 2] =
    [(b"INBLOG2\n", codec::decode), (b"INBLOG1\n", version1::decode)];
