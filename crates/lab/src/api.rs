//! A client of the collector's API.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Requests a path, such as `/api/v1/events`.
pub(crate) fn get(api: SocketAddr, path: &str) -> io::Result<Value> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{path}: {what}"));
    let mut stream = TcpStream::connect_timeout(&api, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(
        format!("GET {path} HTTP/1.0\r\nHost: {api}\r\nAccept: application/json\r\n\r\n").as_bytes(),
    )?;
    let mut answer = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or_else(|| invalid("no answer"))?;
    let status = answer.get(9..12).unwrap_or_default();
    if status != b"200" {
        return Err(invalid(&format!("status {}", String::from_utf8_lossy(status))));
    }
    serde_json::from_slice(&answer[end + 4..]).map_err(|error| invalid(&error.to_string()))
}

const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum length of an answer, bytes.
const MAX_BYTES: u64 = 64 << 20;
