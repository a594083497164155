//! Decoding of pasted bytes, and of the reports of a capture.

use axum::Json;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use inband_capture::{Link, LinkType, Reader, Record, start};
use inband_collector::ReportName;
use inband_explain::{datagram, explain};
use inband_model::api::{CaptureQuestion, CapturedReport, DecodeQuestion, DecodeStart, DecodedCapture};

use super::asked::Asked;
use super::problem::Problem;
use super::views::json;
use crate::settings::REPORT_PORT;

pub(super) async fn decode(
    Asked(question): Asked<CaptureQuestion>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or("");
    if media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json")) {
        let Json(question) =
            Json::<DecodeQuestion>::from_bytes(&body).map_err(|error| Problem::unreadable(&error))?;
        let bytes = bytes(&question.hex).map_err(|error| Problem::parameter("hex", error, ALLOWED))?;
        return Ok(json(&explain(&bytes, question.start)));
    }
    // Thousands of packets take a while, during which other requests must be answered.
    let read = tokio::task::spawn_blocking(move || capture(&body, &question));
    let read = read.await.map_err(|_| Problem::stopped())?;
    Ok(json(&read.map_err(Problem::other_media)?))
}

/// The reports of a capture.
///
/// # Errors
/// The bytes are no capture; contains what they seem to be.
fn capture(bytes: &[u8], question: &CaptureQuestion) -> Result<DecodedCapture, String> {
    let mut reader = Reader::new(bytes).map_err(|error| error.to_string())?;
    let port = question.port.unwrap_or(REPORT_PORT);
    let first = question.packet.unwrap_or(1);
    let limit = question.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let (mut found, mut record) = (DecodedCapture::default(), Record::default());
    let mut unknown: Option<(LinkType, u64)> = None;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => {
                found.error = unknown.map(|(first, count)| {
                    format!("{first} is not known: {count} of {} packets were not read", found.packets)
                });
                return Ok(found);
            }
            Err(error) => {
                found.error = Some(error.to_string());
                return Ok(found);
            }
        }
        found.packets = record.number;
        if !record.link_type.is_known() {
            unknown.get_or_insert((record.link_type, 0)).1 += 1;
        }
        let Some(report) = captured(&record, port) else { continue };
        found.datagrams += 1;
        if record.number < first {
            continue;
        }
        if found.reports.len() < limit {
            found.reports.push(report());
        } else if found.next.is_none() {
            found.next = Some(record.number);
        }
    }
}

/// The datagram to `port` in a record, decoded on demand.
fn captured(record: &Record, port: u16) -> Option<impl FnOnce() -> CapturedReport> {
    let (link, at) = start(record.link_type, &record.data)?;
    let packet = record.data.get(at..)?;
    let start = if link == Link::Ethernet { DecodeStart::Ethernet } else { DecodeStart::Ip };
    let datagram = datagram(packet, start).filter(|datagram| datagram.to.port() == port)?;
    Some(move || {
        let name = ReportName::of(datagram.payload);
        CapturedReport {
            packet: record.number,
            time: record.captured_at_ns.into(),
            source: datagram.from.to_string(),
            destination: datagram.to.to_string(),
            node_id: name.and_then(|name| name.node_id).map(|node| node.0),
            hw_id: name.map(|name| name.hw_id),
            sequence: name.map(|name| name.sequence),
            decoded: explain(packet, start),
        }
    })
}

/// Parses hexadecimal digits.
///
/// # Errors
/// The text is invalid; contains the reason, in words.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut digits: Vec<u8> = Vec::new();
    let mut before = 0;
    for line in text.split('\n') {
        let dump = without_offset(line);
        let mut at = before + line.chars().count() - dump.chars().count();
        before += line.chars().count() + 1;
        for token in dump.split_inclusive(is_separator) {
            let prefix = if token.starts_with("0x") || token.starts_with("0X") { 2 } else { 0 };
            for (place, letter) in
                token.chars().enumerate().skip(prefix).filter(|(_, one)| !is_separator(*one))
            {
                let digit = letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let wrong = || format!("{letter:?} at character {} is no hexadecimal digit", at + place);
                digits.push(digit.ok_or_else(wrong)?);
            }
            if digits.len() > MAX_BYTES * 2 {
                return Err(format!("there are more than {MAX_BYTES} bytes"));
            }
            at += token.chars().count();
        }
    }
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return Err(format!("{} digits are no whole number of bytes, or none", digits.len()));
    }
    Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// The part of a hex dump line behind its offset, as `0x0010: 4500` or `00000010: 4500`.
fn without_offset(line: &str) -> &str {
    let Some((offset, dump)) = line.split_once(':') else { return line };
    let offset = offset.trim_start();
    let digits = offset.strip_prefix("0x").unwrap_or(offset);
    let is_offset = digits.len() >= 4 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    if is_offset { dump } else { line }
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ':' | '-' | ',')
}

/// Maximum number of bytes to decode: the size of a UDP datagram.
const MAX_BYTES: usize = 65_535;
/// Default number of datagrams of a capture in one answer.
const DEFAULT_LIMIT: u32 = 20;
const ALLOWED: &str = "hexadecimal digits of 1 to 65,535 bytes";

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn digits_are_read_as_tools_write_them() {
        let expected = Ok(vec![0x20, 0x00, 0xab, 0x07]);
        for text in ["2000ab07", "20 00 AB 07", "20:00:ab:07", "0x20, 0x00, 0xab, 0x07", "2000\nab07\r\n"] {
            assert_eq!(bytes(text), expected, "{text}");
        }
        assert_eq!(bytes("\t0x0000:  2000\n\t0x0002:  ab07"), expected);
        assert_eq!(bytes("00000000: 2000 ab07"), expected);
    }

    #[test]
    fn what_is_no_number_of_bytes_is_named_with_its_place() {
        assert_eq!(bytes("20\n0x0002:  2z"), Err("'z' at character 13 is no hexadecimal digit".to_owned()));
        for text in ["", "  ", "123", "0x"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(bytes(&"00".repeat(65_535)).is_ok());
        assert_eq!(bytes(&"00".repeat(65_536)), Err("there are more than 65535 bytes".to_owned()));
    }
}
