//! A scripted HTTP server on loopback, for tests of HTTP clients.

#![allow(clippy::unwrap_used, reason = "a test that cannot start its server has failed")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// The answer to a request.
#[derive(Debug, Clone, Copy)]
pub enum Reply {
    /// It is answered with this status.
    Status(u16),
    /// It is answered after this delay.
    Slow(Duration),
    /// The connection is closed.
    Close,
    /// These bytes are sent as they are, and the connection is closed.
    Raw(&'static [u8]),
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Request line and headers.
    pub head: String,
    /// The request body.
    pub body: Vec<u8>,
}

/// The server; dropping it stops it.
#[derive(Debug)]
pub struct Server {
    /// Its address.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    /// Requests for this path get no answer; empty: no such path.
    silent_path: &'static str,
    requests: Mutex<Vec<Request>>,
    stop: AtomicBool,
}

impl Server {
    /// Answers the first requests with `replies`, and later ones with 200.
    #[must_use]
    pub fn start(address: &str, replies: &[Reply]) -> Server {
        Server::start_with(address, replies, "")
    }

    /// Answers with 200, except that requests for this path get no answer.
    #[must_use]
    pub fn silent_at(path: &'static str) -> Server {
        Server::start_with("127.0.0.1:0", &[], path)
    }

    fn start_with(address: &str, replies: &[Reply], silent_path: &'static str) -> Server {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            replies: Mutex::new(replies.iter().copied().collect()),
            silent_path,
            requests: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                for stream in listener.incoming() {
                    if shared.stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let (stream, shared) = (stream.unwrap(), Arc::clone(&shared));
                    std::thread::spawn(move || serve(stream, &shared));
                }
            }
        });
        Server { address, shared, thread: Some(thread) }
    }

    /// The requests that were answered with 200.
    #[must_use]
    pub fn taken(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().unwrap().join();
    }
}

/// Answers one request; the connection is not kept alive, so that the server can stop at any time.
fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(&stream);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    if !shared.silent_path.is_empty() && head.contains(shared.silent_path) {
        while !shared.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        return Ok(());
    }
    let reply = shared.replies.lock().unwrap().pop_front().unwrap_or(Reply::Status(200));
    let status = match reply {
        Reply::Status(status) => status,
        Reply::Slow(time) => {
            std::thread::sleep(time);
            200
        }
        Reply::Close => return Ok(()),
        Reply::Raw(bytes) => return (&stream).write_all(bytes),
    };
    if matches!(reply, Reply::Status(200)) {
        shared.requests.lock().unwrap().push(Request { head, body });
    }
    write!(&stream, "HTTP/1.1 {status} Said\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
}
