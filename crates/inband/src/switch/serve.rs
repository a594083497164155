//! A switch's state over HTTP: `/metrics` for Prometheus, `/status` as JSON.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inband_switch::Status;

use super::metrics;

/// Timeout for reading a request and for writing the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Size limit of a request, bytes.
const MAX_REQUEST_BYTES: usize = 8_192;

/// Serves the state on a thread that ends with the program.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn start(listener: TcpListener, shown: Arc<Mutex<Status>>) -> io::Result<()> {
    let serve = move || {
        for stream in listener.incoming().flatten() {
            // A client that does not read its answer gets none.
            let _ = answer(stream, &shown);
        }
    };
    std::thread::Builder::new().name("metrics".to_owned()).spawn(serve)?;
    Ok(())
}

fn answer(mut stream: TcpStream, shown: &Mutex<Status>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1_024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < MAX_REQUEST_BYTES {
        match stream.read(&mut part)? {
            0 => break,
            length => request.extend_from_slice(part.get(..length).unwrap_or_default()),
        }
    }
    let status = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let path = request.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let (code, kind, body) = match path {
        _ if !request.starts_with(b"GET ") => ("405 Method Not Allowed", "text/plain", String::new()),
        b"/metrics" => ("200 OK", "text/plain; version=0.0.4", metrics::text(&status)),
        b"/status" => ("200 OK", "application/json", serde_json::to_string(&status)?),
        _ => ("404 Not Found", "text/plain", "/metrics or /status\n".to_owned()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
