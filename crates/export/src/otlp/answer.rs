//! The response of a receiver: everything accepted, or a part rejected.
//!
//! A receiver that accepts only a part also answers 200, with `partial_success`. The rejected part must not
//! be sent again.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use serde_json::Value;

use crate::answer::Answer;

/// Interprets the response to spans.
pub(super) fn of_traces(media: &str, body: &[u8]) -> Answer {
    let read = |body: &[u8]| {
        let partial = ExportTraceServiceResponse::decode(body).ok()?.partial_success;
        Some(partial.map(|partial| (partial.rejected_spans, partial.error_message)))
    };
    heard(media, body, "spans", "rejectedSpans", read)
}

/// Interprets the response to metrics.
pub(super) fn of_metrics(media: &str, body: &[u8]) -> Answer {
    let read = |body: &[u8]| {
        let partial = ExportMetricsServiceResponse::decode(body).ok()?.partial_success;
        Some(partial.map(|partial| (partial.rejected_data_points, partial.error_message)))
    };
    heard(media, body, "data points", "rejectedDataPoints", read)
}

/// What was rejected, and why.
type Partial = Option<(i64, String)>;

fn heard(media: &str, body: &[u8], what: &str, key: &str, read: fn(&[u8]) -> Option<Partial>) -> Answer {
    let partial = match media {
        "application/json" => in_json(body, key),
        "application/x-protobuf" | "" => read(body),
        // A proxy in front of the receiver: the body is not about spans.
        _ => Some(None),
    };
    match partial {
        None if media.is_empty() => Answer::Taken,
        None => Answer::Away { why: format!("half an answer: its {media} cannot be read"), again: None },
        // 0 rejected with a message is a warning.
        Some(Some((rejected, why))) if rejected > 0 => {
            let why = why.chars().take(MAX_TEXT).collect::<String>();
            let why = format!("it rejects {rejected} {what}{}{why}", if why.is_empty() { "" } else { ": " });
            Answer::TakenInPart { rejected: rejected.unsigned_abs(), why }
        }
        Some(_) => Answer::Taken,
    }
}

/// The same from JSON, where 64-bit numbers are strings.
fn in_json(body: &[u8], key: &str) -> Option<Partial> {
    if body.is_empty() {
        return Some(None);
    }
    let answer: Value = serde_json::from_slice(body).ok()?;
    let partial = &answer["partialSuccess"];
    let rejected = &partial[key];
    let rejected = rejected.as_i64().or_else(|| rejected.as_str()?.parse().ok());
    let why = partial["errorMessage"].as_str().unwrap_or_default().to_owned();
    Some(rejected.map(|rejected| (rejected, why)))
}

/// Maximum length of a receiver's message, characters.
const MAX_TEXT: usize = 200;

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::{
        ExportTracePartialSuccess, ExportTraceServiceResponse,
    };
    use prost::Message;

    use super::{of_metrics, of_traces};
    use crate::answer::Answer;

    const PROTOBUF: &str = "application/x-protobuf";

    #[test]
    fn an_answer_without_rejections_is_taken() {
        for (media, body) in [
            (PROTOBUF, &b""[..]),
            ("application/json", b""),
            ("application/json", b"{}"),
            ("application/json", b"{\"partialSuccess\":{}}"),
            (
                "application/json",
                b"{\"partialSuccess\":{\"rejectedSpans\":\"0\",\"errorMessage\":\"a warning\"}}",
            ),
            ("", b"ok"),
            ("text/plain", b"ok"),
        ] {
            assert_eq!(of_traces(media, body), Answer::Taken, "{media} {body:?}");
        }
        assert_eq!(of_traces(PROTOBUF, &rejecting(0, "a warning")), Answer::Taken);
    }

    #[test]
    fn rejections_are_told_in_the_words_of_the_receiver() {
        let rejected = |rejected, why: &str| Answer::TakenInPart { rejected, why: why.to_owned() };
        let quota = rejected(3, "it rejects 3 spans: over the quota");
        assert_eq!(of_traces(PROTOBUF, &rejecting(3, "over the quota")), quota);
        assert_eq!(of_traces("", &rejecting(3, "over the quota")), quota);
        assert_eq!(of_traces(PROTOBUF, &rejecting(3, "")), rejected(3, "it rejects 3 spans"));
        let json = b"{\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"over the quota\"}}";
        assert_eq!(of_traces("application/json", json), quota);
        let json = b"{\"partialSuccess\":{\"rejectedDataPoints\":2,\"errorMessage\":\"too old\"}}";
        assert_eq!(of_metrics("application/json", json), rejected(2, "it rejects 2 data points: too old"));
    }

    #[test]
    fn half_an_answer_is_no_answer() {
        let whole = rejecting(3, "over the quota");
        assert!(matches!(of_traces(PROTOBUF, &whole[..5]), Answer::Away { .. }));
        assert!(matches!(of_traces("application/json", b"{\"partialSucc"), Answer::Away { .. }));
        assert!(matches!(of_traces(PROTOBUF, b"<html>"), Answer::Away { .. }));
    }

    fn rejecting(rejected_spans: i64, why: &str) -> Vec<u8> {
        let partial = ExportTracePartialSuccess { rejected_spans, error_message: why.to_owned() };
        ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec()
    }
}
