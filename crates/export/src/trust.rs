//! The servers that are trusted over TLS: those that configured authorities vouch for, and those authorities
//! themselves.

mod connector;
mod purpose;
mod verifier;

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use ureq::Agent;
use ureq::config::Config;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};

use self::connector::TrustConnector;
use self::verifier::Verifier;

/// Trusted authorities, from a PEM file.
///
/// A server whose own certificate is in the file is trusted too, if its name and validity period are right:
/// `openssl req -x509` makes such certificates, which are their own authority.
#[derive(Debug, Clone)]
pub struct Authorities(Arc<ClientConfig>);

impl Authorities {
    /// Reads a PEM file.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or contains no certificate of an authority.
    pub fn read(path: &Path) -> io::Result<Self> {
        let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let text = std::fs::read(path)?;
        let certificates = CertificateDer::pem_slice_iter(&text);
        let certificates = certificates.collect::<Result<Vec<_>, _>>().map_err(|error| match error {
            pem::Error::MissingSectionEnd { .. } => wrong("a section has no line `-----END`".to_owned()),
            error => wrong(error.to_string()),
        })?;
        if certificates.is_empty() {
            return Err(wrong("it holds no certificate".to_owned()));
        }
        Self::new(certificates).map_err(wrong)
    }

    fn new(certificates: Vec<CertificateDer<'static>>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        let (_, unreadable) = roots.add_parsable_certificates(certificates.iter().cloned());
        if unreadable > 0 {
            return Err("it holds a certificate that cannot be understood".to_owned());
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let verifier = Verifier::new(roots, certificates, Arc::clone(&provider));
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier.map_err(|error| error.to_string())?))
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }

    /// The configuration of a TLS client.
    #[must_use]
    pub fn client(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

/// An HTTP agent that trusts `authorities`; `None`: those that browsers trust.
#[must_use]
pub fn agent(config: Config, authorities: Option<&Authorities>) -> Agent {
    let Some(authorities) = authorities else { return config.new_agent() };
    let connector =
        ().chain(ConnectProxyConnector::default())
            .chain(TcpConnector::default())
            .chain(TrustConnector::new(authorities.client()));
    Agent::with_parts(config, connector, DefaultResolver::default())
}

#[cfg(test)]
mod tests;
