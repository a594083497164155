//! TLS of the API.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use thiserror::Error;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::settings::ApiSettings;

/// The current certificate, read again when its file changes.
#[derive(Clone)]
pub(super) struct Tls {
    files: Arc<Files>,
    current: Arc<Mutex<Current>>,
}

/// What is wrong with a certificate or its key.
#[derive(Debug, Error)]
pub enum TlsError {
    /// Only one of the two is set.
    #[error("api.tls_certificate and api.tls_key belong together")]
    Half,
    /// A file cannot be read, or its PEM is damaged.
    #[error("{path}: {why}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file has other content.
    #[error("{path} holds no {what} in PEM", path = .path.display())]
    Nothing {
        /// The file.
        path: PathBuf,
        /// What it should contain.
        what: &'static str,
    },
    /// They do not match, or are not supported.
    #[error(transparent)]
    Refused(#[from] rustls::Error),
}

impl TlsError {
    /// The error of a file that should contain `what`.
    fn of(path: &Path, what: &'static str, error: pem::Error) -> Self {
        let why = match error {
            pem::Error::NoItemsFound => return Self::Nothing { path: path.to_owned(), what },
            pem::Error::MissingSectionEnd { .. } => "a section has no line `-----END`".to_owned(),
            pem::Error::IllegalSectionStart { .. } => "a line `-----BEGIN` is not complete".to_owned(),
            pem::Error::Base64Decode(_) => "a section holds characters that are not base64".to_owned(),
            pem::Error::SectionTooLarge => "a section is too large".to_owned(),
            pem::Error::Io(error) => error.to_string(),
            error => error.to_string(),
        };
        Self::File { path: path.to_owned(), why }
    }
}

#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

struct Current {
    acceptor: TlsAcceptor,
    changed_at: Option<SystemTime>,
    looked_at: Instant,
}

impl Tls {
    /// Reads certificate and key; `None` if the settings name none.
    pub(super) fn read(settings: &ApiSettings) -> Result<Option<Tls>, TlsError> {
        let files = Files { certificate: settings.tls_certificate.clone(), key: settings.tls_key.clone() };
        match (files.certificate.as_os_str().is_empty(), files.key.as_os_str().is_empty()) {
            (true, true) => return Ok(None),
            (false, false) => {}
            _ => return Err(TlsError::Half),
        }
        let current = Current {
            changed_at: files.changed_at(),
            acceptor: files.acceptor()?,
            looked_at: Instant::now(),
        };
        Ok(Some(Tls { files: Arc::new(files), current: Arc::new(Mutex::new(current)) }))
    }

    /// Performs the handshake with a caller.
    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let acceptor = self.acceptor();
        acceptor.accept(stream).await
    }

    fn acceptor(&self) -> TlsAcceptor {
        // The state is consistent even if another thread panicked.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.looked_at.elapsed() >= LOOK_EVERY {
            current.looked_at = Instant::now();
            let changed_at = self.files.changed_at();
            // A certificate and key that are being replaced may not match for a moment: the old pair stays.
            if changed_at != current.changed_at
                && let Ok(acceptor) = self.files.acceptor()
            {
                current.acceptor = acceptor;
                current.changed_at = changed_at;
            }
        }
        current.acceptor.clone()
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Files {
    fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let failed = |path: &PathBuf, what, error| TlsError::of(path, what, error);
        let certificates = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| failed(&self.certificate, CERTIFICATE, error))?;
        if certificates.is_empty() {
            return Err(failed(&self.certificate, CERTIFICATE, pem::Error::NoItemsFound));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key);
        let key = key.map_err(|error| failed(&self.key, "private key", error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    fn changed_at(&self) -> Option<SystemTime> {
        let of = |path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        of(&self.certificate).max(of(&self.key))
    }
}

const CERTIFICATE: &str = "certificate";
/// Minimum interval between checks of the files, made when callers connect.
const LOOK_EVERY: Duration = Duration::from_secs(10);
