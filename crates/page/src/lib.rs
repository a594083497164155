//! The web page's files: built from `web/` by `cargo xtask page`, committed in `dist/`, and embedded in the
//! program.

use std::borrow::Cow;
use std::path::Path;

/// One file of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The media type, as in `Content-Type`.
    pub media_type: &'static str,
    /// Identifies this content among all versions of the file, in double quotes, as in `ETag`.
    pub etag: String,
    /// The content.
    pub bytes: Cow<'static, [u8]>,
}

/// The file with this name, such as `main.js`; `None` if the page has none.
///
/// A debug build reads it from the directory in the environment variable `INBAND_PAGE`, so that a new build
/// of the page needs no new build of the program.
#[must_use]
pub fn file(name: &str) -> Option<File> {
    let (_, media_type, built) = FILES.iter().find(|(known, ..)| *known == name)?;
    let bytes = edited(name).map_or(Cow::Borrowed(*built), Cow::Owned);
    Some(File { media_type, etag: etag(&bytes), bytes })
}

/// The document at every address of the page, for a page whose addresses begin with `base`: empty, or a path
/// that begins with a slash and does not end with one.
#[must_use]
pub fn document(base: &str) -> String {
    let document = file("index.html").map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
    document.unwrap_or_default().replace(BASE, base)
}

/// The names of all files.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, ..)| *name)
}

fn edited(name: &str) -> Option<Vec<u8>> {
    let directory = std::env::var_os("INBAND_PAGE").filter(|_| cfg!(debug_assertions))?;
    std::fs::read(Path::new(&directory).join(name)).ok()
}

/// FNV-1a over the content.
fn etag(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("\"{hash:016x}\"")
}

/// The placeholder in the document for the path in front of all addresses.
const BASE: &str = "{base}";

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Name, media type and content.
const FILES: [(&str, &str, &[u8]); 5] = [
    ("index.html", HTML, include_bytes!("../dist/index.html")),
    ("main.js", SCRIPT, include_bytes!("../dist/main.js")),
    ("main.css", STYLE, include_bytes!("../dist/main.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("../dist/icon.svg")),
    ("licences.txt", TEXT, include_bytes!("../dist/licences.txt")),
];

#[cfg(test)]
mod tests {
    use super::{document, file, names};

    #[test]
    fn every_file_has_content_and_a_tag_of_its_own() {
        let mut tags: Vec<String> = names().map(|name| file(name).unwrap().etag).collect();
        assert!(names().all(|name| !file(name).unwrap().bytes.is_empty()));
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), names().count());
    }

    #[test]
    fn the_document_asks_for_files_that_exist_below_the_base_path() {
        let document = document("/a/b");
        let asked = document.split("\"/a/b/page/").skip(1).filter_map(|rest| rest.split('"').next());
        assert!(asked.clone().count() >= 3, "{document}");
        assert!(asked.clone().all(|name| file(name).is_some()), "{document}");
        assert!(!document.contains("{base}"));
    }

    #[test]
    fn nothing_outside_the_page_is_a_file_of_it() {
        for name in ["", "/", "../Cargo.toml", "main.js/", "MAIN.JS"] {
            assert_eq!(file(name), None, "{name}");
        }
    }
}
