//! BTF inputs that fuzzing found can still be read.

#[path = "../../../fuzz/bodies/btf.rs"]
mod body;

use std::path::Path;

use inband_testkit::fuzz::replay;

#[test]
fn btf_corpus_replays() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/btf");
    let count = replay(&corpus, body::btf).expect("the corpus is committed");
    assert!(count > 0, "{} is empty", corpus.display());
}
