//! QUIC as applications use it: path MTU discovery, and several datagrams per call.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};

use crate::agent::{Agent, Domain};
use crate::merged::merge;
use crate::traffic::{PATIENCE, bytes};
use crate::world::{B4, B6, Offloads, Place, World};

/// The name in the certificate.
const NAME: &str = "b.example";

#[test]
fn quic_gets_int_where_it_fits_and_changes_no_byte() {
    for coverage in ["slices", "all"] {
        let Some(world) = World::new(Offloads::On) else { return };
        merge(&world);
        let domain = Domain { coverage, interval_us: 200, ..Domain::new("dscp", "md") };
        let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
        for address in [B4, B6] {
            exchange_quic(&world, address, 2_000_000, coverage);
        }

        let (a, b) = (a.stop(), b.stop());
        let count = |tally: &serde_json::Value, outcome: &str| tally["outcomes"][outcome].as_u64().unwrap();
        for (from, to) in [(&a, &b), (&b, &a)] {
            assert!(count(from, "started") > 20, "{coverage}: {from}");
            assert_eq!(count(from, "started"), count(to, "stripped"), "{coverage}: {from} {to}");
            assert_eq!(count(to, "segments"), 0, "{coverage}: {to}");
        }
        assert!(coverage == "slices" || count(&b, "taken_apart") > 0, "B's device merges: {b}");
    }
}

/// Sends `length` bytes over QUIC from A to `address` of B and back; panics unless both arrive unchanged.
pub(crate) fn exchange_quic(world: &World, address: &str, length: usize, what: &str) {
    let address: IpAddr = address.parse().unwrap();
    let any: IpAddr = if address.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
    let at_b = world.inside(Place::B, || UdpSocket::bind((address, 0)).unwrap());
    let at_a = world.inside(Place::A, || UdpSocket::bind((any, 0)).unwrap());
    let to = at_b.local_addr().unwrap();
    let (server, client) = settings();
    std::thread::scope(|scope| {
        let answered = scope.spawn(|| run(answer(at_b, server, length)));
        run(ask(at_a, client, to, length));
        answered.join().unwrap_or_else(|_| panic!("{what}: QUIC at B"));
    });
}

/// Receives one stream of known bytes, and answers with others.
async fn answer(socket: UdpSocket, settings: ServerConfig, length: usize) {
    let runtime = Arc::new(TokioRuntime);
    let endpoint = Endpoint::new(EndpointConfig::default(), Some(settings), socket, runtime).unwrap();
    let connection = endpoint.accept().await.unwrap().await.unwrap();
    let (mut to, mut from) = connection.accept_bi().await.unwrap();
    assert!(from.read_to_end(length).await.unwrap() == bytes(length, 1), "the bytes from A have changed");
    to.write_all(&bytes(length, 2)).await.unwrap();
    to.finish().unwrap();
    connection.closed().await;
}

/// Opens a stream, and checks the known answer on it.
async fn ask(socket: UdpSocket, settings: ClientConfig, to: SocketAddr, length: usize) {
    let runtime = Arc::new(TokioRuntime);
    let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, runtime).unwrap();
    let connection = endpoint.connect_with(settings, to, NAME).unwrap().await.unwrap();
    let (mut to, mut from) = connection.open_bi().await.unwrap();
    to.write_all(&bytes(length, 1)).await.unwrap();
    to.finish().unwrap();
    assert!(from.read_to_end(length).await.unwrap() == bytes(length, 2), "the bytes from B have changed");
    connection.close(0_u32.into(), b"");
    endpoint.wait_idle().await;
}

/// Runs one end, with a timeout.
fn run(end: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, end).await.expect("QUIC hangs") });
}

/// A server with a self-signed certificate, and a client that trusts it.
fn settings() -> (ServerConfig, ClientConfig) {
    let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let mut trusted = rustls::RootCertStore::empty();
    trusted.add(certificate.clone()).unwrap();
    let server = ServerConfig::with_single_cert(vec![certificate], key).unwrap();
    (server, ClientConfig::with_root_certificates(Arc::new(trusted)).unwrap())
}
