//! Replays of inputs found by fuzzing.

use std::path::Path;

use super::{any_report, collector, dissect, explain_bytes, layers, md_stack, node, replay, report};

fn replay_all(name: &str, target: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let count = replay(&corpus, target).expect("the corpus is committed");
    assert!(count > 0, "{} is empty", corpus.display());
}

#[test]
fn layers_corpus_replays() {
    replay_all("layers", layers);
}

#[test]
fn dissect_corpus_replays() {
    replay_all("dissect", dissect);
}

#[test]
fn md_stack_corpus_replays() {
    replay_all("md_stack", md_stack);
}

#[test]
fn report_corpus_replays() {
    replay_all("report", report);
}

#[test]
fn any_report_corpus_replays() {
    replay_all("any_report", any_report);
}

#[test]
fn node_corpus_replays() {
    replay_all("node", node);
}

#[test]
fn collector_corpus_replays() {
    replay_all("collector", collector);
}

#[test]
fn explain_corpus_replays() {
    replay_all("explain", explain_bytes);
}
