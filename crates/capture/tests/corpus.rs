//! Reads and writes the capture files that fuzzing found.

#[path = "../../../fuzz/bodies/capture.rs"]
mod body;

use std::path::Path;

use inband_testkit::fuzz::replay;

#[test]
fn capture_corpus_replays() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/capture");
    let count = replay(&corpus, body::capture).expect("the corpus is committed");
    assert!(count > 0, "{} is empty", corpus.display());
}
