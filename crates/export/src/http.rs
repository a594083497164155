//! HTTP POST requests.

use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use ureq::Agent;
use ureq::http::{HeaderMap, HeaderValue, StatusCode, Uri};

use super::answer::Answer;
use super::error::ExportError;
use crate::trust::{Authorities, agent};

/// Posts to one URL over persistent connections.
#[derive(Debug)]
pub(super) struct Poster {
    agent: Agent,
    url: String,
    content_type: &'static str,
    /// Value of the header `Authorization`; empty: none.
    authorization: String,
    timeout: Duration,
    hear: Hear,
}

/// Interprets the body of a successful response by its media type, which may be empty.
pub(super) type Hear = fn(media: &str, body: &[u8]) -> Answer;

/// Where and how to post.
#[derive(Debug, Clone)]
pub(super) struct Target<'a> {
    pub(super) url: &'a str,
    /// The setting that names it, and its value, for errors.
    pub(super) setting: (&'static str, &'a str),
    pub(super) content_type: &'static str,
    /// Bearer token; empty: none.
    pub(super) token: &'a str,
    /// PEM file with the certificates of trusted authorities; empty: those that browsers trust.
    pub(super) authorities: &'a Path,
    pub(super) timeout: Duration,
    /// Interprets the body of a successful response.
    pub(super) hear: Hear,
}

/// Accepts every successful response, whatever its body contains.
pub(super) const ALL_TAKEN: Hear = |_, _| Answer::Taken;

impl Poster {
    /// Prepares the client; connects on the first post.
    pub(super) fn new(output: &str, target: &Target<'_>) -> Result<Poster, ExportError> {
        let wrong = |what: String| ExportError::Setting { output: output.to_owned(), what };
        let (name, value) = target.setting;
        let url: Uri = target.url.parse().map_err(|error| wrong(format!("{name} = \"{value}\": {error}")))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none() {
            let what = format!("{name} = \"{value}\" has to begin with http:// or https:// and a host");
            return Err(wrong(what));
        }
        let path = (!target.authorities.as_os_str().is_empty()).then_some(target.authorities);
        let authorities = path.map(Authorities::read).transpose().map_err(|source| {
            let path = target.authorities.to_owned();
            ExportError::Read { output: output.to_owned(), path, source }
        })?;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("inband/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent = agent(config, authorities.as_ref());
        let authorization =
            if target.token.is_empty() { String::new() } else { format!("Bearer {}", target.token) };
        // The token is not shown.
        if HeaderValue::from_str(&authorization).is_err() {
            return Err(wrong("token has a character that no HTTP header may have".to_owned()));
        }
        let Target { content_type, timeout, hear, .. } = *target;
        Ok(Poster { agent, url: target.url.to_owned(), content_type, authorization, timeout, hear })
    }

    /// Posts once, within the timeout and within `left`.
    pub(super) fn post(&self, body: &[u8], left: Option<Duration>) -> Answer {
        let timeout = left.map_or(self.timeout, |left| left.min(self.timeout));
        let mut request = self.agent.post(&self.url).content_type(self.content_type);
        if !self.authorization.is_empty() {
            request = request.header("Authorization", &self.authorization);
        }
        match request.config().timeout_global(Some(timeout)).build().send(body) {
            Err(ureq::Error::Timeout(_)) => {
                Answer::Away { why: format!("no answer within {timeout:?}"), again: None }
            }
            Err(error) => Answer::Away { why: described(&error), again: None },
            Ok(mut response) => {
                let mut body = Vec::new();
                let whole = response.body_mut().as_reader().take(MAX_ANSWER_BYTES).read_to_end(&mut body);
                match whole {
                    // A server that breaks off its response may not have finished its work.
                    Err(error) if response.status().is_success() => {
                        let why = format!("half an answer: {}", described(&error));
                        Answer::Away { why, again: None }
                    }
                    _ => self.judge(response.status(), response.headers(), &body),
                }
            }
        }
    }

    fn judge(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Answer {
        if status.is_success() {
            let media = headers.get("Content-Type").and_then(|value| value.to_str().ok()).unwrap_or("");
            let media = media.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
            return (self.hear)(&media, body);
        }
        judge(status, headers, &String::from_utf8_lossy(body))
    }
}

/// Interprets a response without success.
fn judge(status: StatusCode, headers: &HeaderMap, text: &str) -> Answer {
    let line = text.lines().next().unwrap_or_default().chars().take(MAX_SAID).collect::<String>();
    let why =
        if line.is_empty() { format!("it answers {status}") } else { format!("it answers {status}: {line}") };
    match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
            Answer::Away { why, again: retry_after(headers) }
        }
        status if status.is_server_error() => Answer::Away { why, again: retry_after(headers) },
        _ => Answer::Refused(why),
    }
}

/// How long `Retry-After` asks to wait: a number of seconds, or until a date by the server's clock (`Date`).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let date = |text| httpdate::parse_http_date(text).ok();
    let wanted = text("Retry-After")?;
    if let Ok(seconds) = wanted.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = text("Date").and_then(date).unwrap_or_else(SystemTime::now);
    Some(date(wanted)?.duration_since(now).unwrap_or_default())
}

/// An error and its causes.
fn described(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// Maximum bytes of a response that are read.
const MAX_ANSWER_BYTES: u64 = 64 << 10;
/// Maximum characters of a response that are reported.
const MAX_SAID: usize = 200;

#[cfg(test)]
mod tests;
