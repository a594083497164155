//! The address of a collector's API, as users write it.

use std::fmt;
use std::str::FromStr;

use ureq::http::Uri;
use ureq::http::uri::Authority;

/// The URL of a collector's API, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectorUrl(String);

impl FromStr for CollectorUrl {
    type Err = String;

    /// Reads `ADDRESS:PORT`, or a URL of `http` or `https`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not the address of a collector, such as `127.0.0.1:8080` or `https://NAME:PORT`"
            )
        };
        let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        // Behind the host there is a port, or nothing.
        let is_whole = |host: &Authority| host.port().is_some() != host.as_str().ends_with(host.host());
        let has_host = uri.authority().is_some_and(|host| !host.host().is_empty() && is_whole(host));
        if !is_http || !has_host || uri.query().is_some() {
            return Err(wrong());
        }
        Ok(Self(url.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for CollectorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::CollectorUrl;

    #[test]
    fn an_address_or_a_url_of_http_is_read() {
        for (text, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("collector.example", "http://collector.example"),
            ("https://collector.example:8443/", "https://collector.example:8443"),
            ("http://proxy/inband/", "http://proxy/inband"),
        ] {
            assert_eq!(text.parse::<CollectorUrl>().unwrap().to_string(), url);
        }
    }

    #[test]
    fn anything_else_is_a_mistake() {
        for text in ["", "ftp://x", "://x", "http://", "http:///x", "a b", "x:port", "http://x?y"] {
            let error = text.parse::<CollectorUrl>().unwrap_err();
            assert!(error.starts_with(&format!("`{text}` is not the address")), "{error}");
        }
    }
}
