//! Compression of answers: zstd or gzip.

use std::io::{self, Write};
use std::mem;
use std::thread;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, VARY,
};
use axum::middleware::Next;
use axum::response::Response;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// The encoding of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Zstd,
    Gzip,
}

/// Compresses answers of known length if the caller accepts it.
pub(super) async fn answers(request: Request, next: Next) -> Response {
    let coding = Coding::of(request.headers());
    let mut answer = next.run(request).await;
    // A shared answer already has the header.
    if answer.headers().get_all(VARY).iter().all(|varies| varies != "accept-encoding") {
        answer.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    }
    let length = answer.body().size_hint().exact();
    let (Some(coding), Some(MIN_BYTES..=MAX_BYTES)) = (coding, length) else { return answer };
    if !is_text(answer.headers()) || answer.headers().contains_key(CONTENT_ENCODING) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let packed = match bytes.len() {
        0..=QUICK_BYTES => coding.pack(&bytes),
        _ => {
            let bytes = bytes.clone();
            // Megabytes take a while, during which other requests must be answered.
            tokio::task::spawn_blocking(move || coding.pack(&bytes)).await.ok().flatten()
        }
    };
    let Some(packed) = packed else { return Response::from_parts(parts, bytes.into()) };
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, packed.into())
}

impl Coding {
    /// The best encoding that the caller accepts.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let accepted: Vec<&str> = accepted.flat_map(|list| list.split(',')).collect();
        [Self::Zstd, Self::Gzip].into_iter().find(|coding| {
            accepted.iter().any(|range| {
                let mut parts = range.split(';').map(str::trim);
                let is_same = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding.name()));
                is_same && !parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)))
            })
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    fn pack(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Zstd => zstd::bulk::compress(bytes, ZSTD_LEVEL).ok(),
            Self::Gzip => gzip(bytes).ok(),
        }
    }
}

/// One gzip member; two threads compress half of a large answer each.
fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GZIP_HEADER.to_vec();
    match bytes.len() {
        0..=QUICK_BYTES => packed.append(&mut deflated(bytes, true)?),
        length => {
            let (first, last) = bytes.split_at(length / 2);
            let (first, last) = thread::scope(|scope| {
                let other = scope.spawn(|| deflated(first, false));
                let own = deflated(last, true);
                // A panic of a thread has been printed.
                (other.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())), own)
            });
            packed.append(&mut first?);
            packed.append(&mut last?);
        }
    }
    let mut checksum = Crc::new();
    checksum.update(bytes);
    packed.extend_from_slice(&checksum.sum().to_le_bytes());
    packed.extend_from_slice(&checksum.amount().to_le_bytes());
    Ok(packed)
}

/// Bytes in DEFLATE's format: the end of the data, or a part that ends at a whole byte and that others
/// follow.
fn deflated(bytes: &[u8], is_last: bool) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
    encoder.write_all(bytes)?;
    if is_last {
        return encoder.finish();
    }
    encoder.flush()?;
    Ok(mem::take(encoder.get_mut()))
}

fn is_text(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    media.starts_with("application/json")
        || media.starts_with("text/") && !media.starts_with("text/event-stream")
}

/// Smaller answers are not compressed.
const MIN_BYTES: u64 = 1_024;
/// Larger answers are sent uncompressed, so that two copies of them are never in memory.
const MAX_BYTES: u64 = 64 << 20;
/// Answers up to this size are compressed on the spot: it takes less than half a millisecond.
const QUICK_BYTES: usize = 64 << 10;
const ZSTD_LEVEL: i32 = 1;
/// Its answers are a third smaller than those of level 1, which takes half the time.
const GZIP_LEVEL: u32 = 2;
/// RFC 1952: magic, DEFLATE, no flags, no time, fastest, unknown system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use axum::http::header::ACCEPT_ENCODING;

    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::{Coding, QUICK_BYTES, gzip};

    #[test]
    fn answers_of_any_length_are_one_member_with_their_bytes() {
        // miniz_oxide 0.9.1 writes wrong bytes at the end of such parts of 131,072 and 193,686 bytes.
        let next = |number: &u64| {
            let number = number ^ (number << 13);
            let number = number ^ (number >> 7);
            Some(number ^ (number << 17))
        };
        for length in [0, 1, 1_000, QUICK_BYTES, QUICK_BYTES + 1, 2 * 131_072, 2 * 193_686, 700_001] {
            let numbers = std::iter::successors(next(&1), next);
            let bytes: Vec<u8> =
                numbers.flat_map(|number| format!("{},", number % 1_000).into_bytes()).take(length).collect();
            let packed = gzip(&bytes).unwrap();
            let (mut decoder, mut plain) = (GzDecoder::new(&packed[..]), Vec::new());
            decoder.read_to_end(&mut plain).unwrap();
            assert!(plain == bytes, "{length}");
            assert!(decoder.into_inner().is_empty(), "bytes after the member of {length}");
        }
    }

    #[test]
    fn the_best_coding_that_a_caller_takes_is_chosen() {
        let chosen = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, text.parse().unwrap());
            Coding::of(&headers)
        };
        assert_eq!(chosen("gzip, deflate, br, zstd"), Some(Coding::Zstd));
        assert_eq!(chosen("zstd;q=0, GZIP"), Some(Coding::Gzip));
        assert_eq!([chosen("br"), chosen("identity"), chosen("gzip;q=0")], [None; 3]);
    }
}
