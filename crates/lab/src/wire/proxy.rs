//! A proxy for connections to the collector's API in its namespace.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use inband_linux::namespace::Namespace;

use super::settings::Settings;

/// The listening sockets.
#[derive(Debug)]
pub(super) struct Proxy {
    has_failed: Arc<AtomicBool>,
}

impl Proxy {
    /// Whether the proxy has failed permanently.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
}

/// Listens outside of the lab and in every guest's namespace.
pub(super) fn start(settings: &Settings) -> io::Result<Proxy> {
    let has_failed = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = sync_channel(WAITING);
    let collector = Namespace::open(&settings.collector)?;
    let failed = Arc::clone(&has_failed);
    std::thread::Builder::new().name("api".into()).spawn(move || {
        if collector.enter().is_ok() {
            carry_all(&receiver);
        }
        failed.store(true, Ordering::Relaxed);
    })?;
    accept(TcpListener::bind(settings.api)?, sender.clone())?;
    for guest in &settings.guests {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.api.port()));
        let listener = Namespace::open(guest)?.inside(|| TcpListener::bind(address))??;
        accept(listener, sender.clone())?;
    }
    Ok(Proxy { has_failed })
}

fn accept(listener: TcpListener, sender: SyncSender<TcpStream>) -> io::Result<()> {
    std::thread::Builder::new().name("accept".into()).spawn(move || {
        for stream in listener.incoming().flatten() {
            // Connections beyond the queue are closed.
            let _ = sender.try_send(stream);
        }
    })?;
    Ok(())
}

/// Carries connections; this thread and all sockets it opens are in the collector's namespace.
fn carry_all(streams: &Receiver<TcpStream>) {
    let open = Arc::new(AtomicUsize::new(0));
    for near in streams {
        if open.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
            continue;
        }
        let Ok(far) = TcpStream::connect(crate::plan::API_INSIDE) else { continue };
        let (Ok(near_copy), Ok(far_copy)) = (near.try_clone(), far.try_clone()) else { continue };
        for (from, to) in [(near, far), (far_copy, near_copy)] {
            let count = Arc::clone(&open);
            count.fetch_add(1, Ordering::Relaxed);
            let carried = std::thread::Builder::new().spawn(move || {
                copy(from, &to);
                count.fetch_sub(1, Ordering::Relaxed);
            });
            if carried.is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

/// Copies bytes until one side ends, and passes the end to the other.
fn copy(mut from: TcpStream, mut to: &TcpStream) {
    let mut buffer = [0; 1 << 14];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..length]).is_err() {
            let _ = from.shutdown(Shutdown::Both);
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Maximum number of connections waiting to be carried.
const WAITING: usize = 64;
/// Maximum number of directions of connections carried at the same time.
const MAX_CONNECTIONS: usize = 512;
