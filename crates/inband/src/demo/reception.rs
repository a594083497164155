//! How do report datagrams get off the socket, whatever the collector is doing?

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use inband_model::Nanos;

/// A socket on 127.0.0.1 with a thread that empties it into a bounded queue.
///
/// Receiving is not understanding: the thread stamps datagrams and counts those the queue has no room for.
#[derive(Debug)]
pub(super) struct Reception {
    address: SocketAddr,
    datagrams: Receiver<Datagram>,
    taken: Arc<AtomicU64>,
    shed: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// One datagram as it came off the socket.
#[derive(Debug)]
pub(super) struct Datagram {
    pub(super) received_at: Nanos,
    pub(super) from: SocketAddr,
    pub(super) payload: Box<[u8]>,
}

/// Datagrams that wait for the collector; more are shed and counted.
const MOST_WAITING: usize = 16_384;
/// How often the thread looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(50);

impl Reception {
    pub(super) fn start() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let address = socket.local_addr()?;
        let (sender, datagrams) = sync_channel(MOST_WAITING);
        let (taken, shed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let (taken, shed, stop) = (Arc::clone(&taken), Arc::clone(&shed), Arc::clone(&stop));
            std::thread::Builder::new()
                .name("reception".to_owned())
                .spawn(move || receive(&socket, &sender, &taken, &shed, &stop))?
        };
        Ok(Self { address, datagrams, taken, shed, stop, thread: Some(thread) })
    }

    /// Where reports are received.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next datagram, if one is there.
    pub(super) fn poll(&self) -> Option<Datagram> {
        self.datagrams.try_recv().ok()
    }

    /// Datagrams taken off the socket so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Datagrams shed since the last call.
    pub(super) fn take_shed(&self) -> u64 {
        self.shed.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed when it happened.
            let _ = thread.join();
        }
    }
}

fn receive(
    socket: &UdpSocket,
    sender: &SyncSender<Datagram>,
    taken: &AtomicU64,
    shed: &AtomicU64,
    stop: &AtomicBool,
) {
    let mut buffer = vec![0; usize::from(u16::MAX)];
    while !stop.load(Ordering::Relaxed) {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(_) => {
                // What is not received shows as lost; a fault that lasts must not keep the processor busy.
                std::thread::sleep(PATIENCE);
                continue;
            }
        };
        taken.fetch_add(1, Ordering::Relaxed);
        let payload = buffer.get(..length).unwrap_or_default().into();
        match sender.try_send(Datagram { received_at: now(), from, payload }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                shed.fetch_add(1, Ordering::Relaxed);
            }
            Err(TrySendError::Disconnected(_)) => return,
        }
    }
}

/// The time of day.
pub(super) fn now() -> Nanos {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
}
