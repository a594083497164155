//! Tests which servers are trusted, as `curl --cacert` does.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned, crypto};

use super::purpose::may_serve;
use super::{Authorities, agent};

#[test]
fn a_certificate_that_is_its_own_authority_is_trusted() {
    let own = Identity::own(&authority());
    let server = serve(&own, &[]);

    assert_eq!(ask(server, "localhost", &[&own.certificate]), Ok("hello".to_owned()));
    assert_eq!(ask(server, "127.0.0.1", &[&own.certificate]), Ok("hello".to_owned()));
    let other = Identity::own(&authority());
    assert_eq!(ask(server, "localhost", &[&other.certificate, &own.certificate]), Ok("hello".to_owned()));
}

#[test]
fn a_certificate_of_an_authority_that_is_given_itself_is_trusted() {
    let root = Identity::own(&authority());
    let leaf = root.sign(&names());
    let server = serve(&leaf, &[]);

    assert_eq!(ask(server, "localhost", &[&leaf.certificate]), Ok("hello".to_owned()));
    assert_eq!(ask(server, "localhost", &[&root.certificate]), Ok("hello".to_owned()));
}

#[test]
fn another_name_is_refused_though_the_certificate_is_its_own_authority() {
    let own = Identity::own(&with(names_of(&["other.example"]), |params| params.is_ca = ca()));
    let server = serve(&own, &[]);

    let refused = ask(server, "localhost", &[&own.certificate]).unwrap_err();
    assert!(refused.contains("not valid for name"), "{refused}");
}

#[test]
fn an_authority_whose_time_is_over_or_has_not_come_is_refused() {
    let expired = with(authority(), |params| params.not_after = date_time_ymd(2001, 1, 1));
    let early = with(authority(), |params| params.not_before = date_time_ymd(4000, 1, 1));
    for (params, why) in [(expired, "expired"), (early, "not valid yet")] {
        let own = Identity::own(&params);
        let server = serve(&own, &[]);

        let refused = ask(server, "localhost", &[&own.certificate]).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn an_expired_certificate_that_is_given_itself_is_refused() {
    let root = Identity::own(&authority());
    let leaf = root.sign(&with(names(), |params| params.not_after = date_time_ymd(2001, 1, 1)));
    let server = serve(&leaf, &[]);

    let refused = ask(server, "localhost", &[&leaf.certificate]).unwrap_err();
    assert!(refused.contains("expired"), "{refused}");
}

#[test]
fn another_authority_under_the_same_name_with_another_key_is_refused() {
    let (own, impostor) = (Identity::own(&authority()), Identity::own(&authority()));
    let server = serve(&impostor, &[]);

    assert!(ask(server, "localhost", &[&own.certificate]).is_err());
}

#[test]
fn the_same_key_in_another_certificate_is_refused() {
    let own = Identity::own(&authority());
    let params = with(authority(), |params| params.serial_number = Some(7_u64.into()));
    let again = Identity { certificate: params.self_signed(&*own.key).unwrap().der().clone(), ..own.clone() };
    let server = serve(&again, &[]);

    assert!(ask(server, "localhost", &[&own.certificate]).is_err());
    assert_eq!(ask(server, "localhost", &[&again.certificate]), Ok("hello".to_owned()));
}

#[test]
fn an_authority_that_sends_the_trusted_one_behind_its_own_certificate_is_refused() {
    let (own, impostor) = (Identity::own(&authority()), Identity::own(&authority()));
    let server = serve(&impostor, std::slice::from_ref(&own.certificate));

    assert!(ask(server, "localhost", &[&own.certificate]).is_err());
}

#[test]
fn a_server_without_the_key_of_the_trusted_certificate_is_refused() {
    let own = Identity::own(&authority());
    let thief = Identity { key: Arc::new(KeyPair::generate().unwrap()), ..own.clone() };
    let server = serve(&thief, &[]);

    assert!(ask(server, "localhost", &[&own.certificate]).is_err());
}

#[test]
fn an_authority_for_other_purposes_is_no_server() {
    let for_purposes = |purposes: &[ExtendedKeyUsagePurpose]| {
        Identity::own(&with(authority(), |params| params.extended_key_usages = purposes.to_vec()))
    };
    let client = for_purposes(&[ExtendedKeyUsagePurpose::ClientAuth]);
    let server = serve(&client, &[]);
    assert!(ask(server, "localhost", &[&client.certificate]).is_err());

    let both = for_purposes(&[ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth]);
    let server = serve(&both, &[]);
    assert_eq!(ask(server, "localhost", &[&both.certificate]), Ok("hello".to_owned()));
    assert!(!may_serve(&client.certificate));
    assert!(may_serve(&for_purposes(&[ExtendedKeyUsagePurpose::Any]).certificate));
    for length in 0..both.certificate.len() {
        assert!(!may_serve(&both.certificate[..length]), "{length}");
    }
}

#[test]
fn without_authorities_only_those_that_browsers_trust_are_asked() {
    let own = Identity::own(&authority());
    let server = serve(&own, &[]);
    let agent = agent(ureq::Agent::config_builder().build(), None);

    assert!(agent.get(format!("https://localhost:{}/", server.port())).call().is_err());
}

/// A certificate and its key.
#[derive(Clone)]
struct Identity {
    certificate: CertificateDer<'static>,
    key: Arc<KeyPair>,
    params: CertificateParams,
}

impl Identity {
    /// Signed by itself.
    fn own(params: &CertificateParams) -> Self {
        let key = Arc::new(KeyPair::generate().unwrap());
        let certificate = params.self_signed(&*key).unwrap().der().clone();
        Self { certificate, key, params: params.clone() }
    }

    /// Another identity, signed by this one.
    fn sign(&self, params: &CertificateParams) -> Self {
        let key = Arc::new(KeyPair::generate().unwrap());
        let issuer = Issuer::from_params(&self.params, &*self.key);
        let certificate = params.signed_by(&*key, &issuer).unwrap().der().clone();
        Self { certificate, key, params: params.clone() }
    }
}

fn names_of(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params
}

fn with(mut params: CertificateParams, change: impl FnOnce(&mut CertificateParams)) -> CertificateParams {
    change(&mut params);
    params
}

fn names() -> CertificateParams {
    names_of(&["localhost", "127.0.0.1"])
}

fn ca() -> IsCa {
    IsCa::Ca(BasicConstraints::Unconstrained)
}

/// Like `openssl req -x509 -subj /CN=localhost -addext subjectAltName=…`.
fn authority() -> CertificateParams {
    with(names(), |params| params.is_ca = ca())
}

/// Serves a response to every client, with a certificate and others after it.
fn serve(identity: &Identity, others: &[CertificateDer<'static>]) -> SocketAddr {
    let chain = [std::slice::from_ref(&identity.certificate), others].concat();
    let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
    let provider = Arc::new(crypto::ring::default_provider());
    let key = provider.key_provider.load_private_key(key).unwrap();
    // The key is not checked against the certificate, so that a test can pose as a thief.
    let certified = tokio_rustls::rustls::sign::CertifiedKey::new(chain, key);
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(tokio_rustls::rustls::sign::SingleCertAndKey::from(certified)));
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let connection_of_tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection_of_tls, connection);
            // A client that does not trust it disconnects.
            if stream.read(&mut [0; 4_096]).is_ok() {
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    address
}

/// Requests from a server by this name; returns the response or the error.
fn ask(server: SocketAddr, name: &str, authorities: &[&CertificateDer<'static>]) -> Result<String, String> {
    let authorities = Authorities::new(authorities.iter().map(|one| (*one).clone()).collect()).unwrap();
    let agent = agent(ureq::Agent::config_builder().build(), Some(&authorities));
    let answer = agent.get(format!("https://{name}:{}/", server.port())).call();
    let mut answer = answer.map_err(|error| error.to_string())?;
    answer.body_mut().read_to_string().map_err(|error| error.to_string())
}
