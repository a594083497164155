use std::fs::{self, OpenOptions};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use inband_model::HopRecord;
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use crate::history::History;
use crate::layout;
use crate::log;
use crate::question::{Cell, Limits};
use crate::sample::{Folder, Numbers, integers, reports};
use crate::segment::ROW_GROUP_ROWS;
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

#[test]
fn a_block_is_decoded_once_for_all_questions() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    let keep = |first| {
        assert_eq!(store.offer(reports(first, 10)), Offered::Queued);
        store.sync();
    };
    let decoded = || {
        drop(ask(&store.history().unwrap(), "SELECT count(*) FROM minutes"));
        store.tally().decoded_blocks
    };
    (0..5).for_each(|block| keep(block * 10));
    assert_eq!((store.tally().decoded_blocks, store.tally().decoded_bytes), (0, 0));

    assert_eq!([decoded(), decoded(), decoded()], [5, 5, 5], "nothing new decodes nothing");
    keep(50);
    assert_eq!([decoded(), decoded()], [6, 6], "one block decodes one block");
    assert!(store.tally().decoded_bytes > 60 * 50);

    assert_eq!(integers(&store.history().unwrap(), "sequence"), Vec::from_iter(0..60));
}

#[test]
fn decoded_rows_go_when_their_log_has_become_segments() {
    let folder = Folder::new();
    let settings = StoreSettings { segment_rows: 20, ..folder.settings() };
    let store = Store::open(settings).unwrap();
    assert_eq!(store.offer(reports(0, 20)), Offered::Queued);
    store.sync();
    assert_eq!(integers(&store.history().unwrap(), "sequence").len(), 20);
    assert!(store.tally().decoded_bytes > 0);

    assert_eq!(store.offer(reports(20, 10)), Offered::Queued);
    store.sync();
    let first = layout::log_file(folder.path(), 1);
    let is_gone = |_: &u64| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        !first.exists() && store.tally().decoded_bytes == 0
    };
    assert!((0..1_000).find(is_gone).is_some(), "{} bytes", store.tally().decoded_bytes);
    assert_eq!(integers(&store.history().unwrap(), "sequence"), Vec::from_iter(0..30));
}

#[test]
fn reception_does_not_wait_for_a_log_that_is_being_decoded() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    assert_eq!(store.offer(reports(0, 10)), Offered::Queued);
    store.sync();
    assert_eq!(integers(&store.history().unwrap(), "sequence").len(), 10);
    let bytes = store.tally().decoded_bytes;

    let decoding = store.decoded.kept();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            // What the ingest thread does with each batch.
            let offered = store.offer(reports(10, 10));
            sender.send((offered, store.tally().decoded_bytes)).unwrap();
        });
        let answer = receiver.recv_timeout(Duration::from_secs(20));
        drop(decoding);
        assert_eq!(answer, Ok((Offered::Queued, bytes)));
    });
}

#[test]
fn more_rows_than_may_be_kept_are_decoded_again_for_each_question() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    assert_eq!(store.offer(reports(0, 100)), Offered::Queued);
    store.sync();
    let (generation, path) = layout::logs(folder.path()).unwrap().remove(0);
    for (rows, blocks) in [(100, 1), (99, 2)] {
        let decoded = super::DecodedLogs::keeping(rows);
        for _ in 0..2 {
            let (rows, damage) = decoded.read(generation, &path).unwrap();
            assert_eq!((rows.parts[0].memory.hops.len(), damage), (100, Vec::new()));
        }
        assert_eq!((decoded.blocks(), decoded.bytes() > 0), (blocks, blocks == 1));
    }
}

#[test]
fn a_log_that_was_cut_and_written_again_is_decoded_anew() {
    let (one, other) = (frames(&[0, 1]), frames(&[0, 2, 3]));
    let folder = Folder::new();
    fs::create_dir_all(layout::log_directory(folder.path())).unwrap();
    let path = layout::log_file(folder.path(), 1);
    let decoded = super::DecodedLogs::keeping(1_000);
    let sequences = || {
        let (rows, damage) = decoded.read(1, &path).unwrap();
        let reports = rows.parts.iter().flat_map(|part| part.memory.hops.reports());
        (reports.map(|report| report.sequence).collect::<Vec<_>>(), damage)
    };
    fs::write(&path, &one).unwrap();
    assert_eq!(sequences(), (vec![0, 1], Vec::new()));

    // Truncated in place, as by the writer after the disk has refused a block.
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(0).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &other, 0).unwrap();
    assert_eq!(sequences(), (vec![0, 2, 3], Vec::new()));
}

#[test]
fn damage_is_named_to_every_question_and_costs_its_block_alone() {
    let whole = frames(&[0, 1, 2]);
    let folder = Folder::new();
    fs::create_dir_all(layout::log_directory(folder.path())).unwrap();
    let path = layout::log_file(folder.path(), 1);
    let block = (whole.len() - log::LOG_HEADER_BYTES) / 3;
    let mut bytes = whole.clone();
    bytes[log::LOG_HEADER_BYTES + block + block / 2] ^= 1;
    let decoded = super::DecodedLogs::keeping(1_000);
    // The last block arrives in two pieces.
    for length in [bytes.len() - block, bytes.len() - 3, bytes.len(), bytes.len()] {
        fs::write(&path, &bytes[..length]).unwrap();
        let (rows, damage) = decoded.read(1, &path).unwrap();
        let mut fresh = Vec::new();
        let outcome = log::decode(&bytes[..length], |batch| fresh.extend(batch.hops.iter()));
        let kept: Vec<HopRecord> = rows.parts.iter().flat_map(|part| part.memory.hops.iter()).collect();
        assert_eq!(kept, fresh, "{length}");
        assert_eq!(damage, super::damage_of_log(&path, &outcome), "{length}");
    }
    assert_eq!(decoded.blocks(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn shared_logs_answer_as_logs_that_are_decoded_anew(
        seed in any::<u64>(),
        sizes in proptest::collection::vec(0u32..400, 1..6),
        segment_rows in 100usize..2_000,
    ) {
        let (folder, mut numbers) = (Folder::new(), Numbers(seed));
        let store = Store::open(StoreSettings { segment_rows, ..folder.settings() }).unwrap();
        let (mut first, mut held) = (0, Vec::new());
        for size in sizes {
            prop_assert_eq!(store.offer(reports(first, size)), Offered::Queued);
            first += size;
            store.sync();
            let (shared, fresh) = (store.history().unwrap(), History::open(folder.path()).unwrap());
            for sql in QUESTIONS {
                prop_assert_eq!(ask(&shared, sql), ask(&fresh, sql), "{}", sql);
            }
            prop_assert_eq!(ask(&shared, QUESTIONS[0])[0][0].clone(), Cell::Integer(first.into()));
            // A snapshot keeps answering as when it was taken.
            if numbers.below(2) == 0 {
                held.push((first, shared));
            }
        }
        for (count, history) in held.iter().rev() {
            prop_assert_eq!(ask(history, QUESTIONS[0])[0][0].clone(), Cell::Integer((*count).into()));
            let counted = ask(history, "SELECT sum(count) FROM minutes")[0][0].clone();
            prop_assert_eq!(counted, if *count == 0 { Cell::Null } else { Cell::Integer((*count).into()) });
        }
    }
}

fn ask(history: &History, sql: &str) -> Vec<Vec<Cell>> {
    history.query(sql, Limits::default()).unwrap().rows
}

/// A log with one block per sequence number, of one report each.
fn frames(sequences: &[u32]) -> Vec<u8> {
    let salt = log::Salt::draw();
    let mut bytes = log::header(salt).to_vec();
    sequences.iter().for_each(|sequence| log::encode(&reports(*sequence, 1), salt, &mut bytes).unwrap());
    bytes
}

const QUESTIONS: [&str; 4] = [
    "SELECT count(*), sum(hop_latency), max(time), min(sequence) FROM observations",
    "SELECT node_id, sequence, time, hop_latency FROM observations ORDER BY 1, 2, 3, 4",
    "SELECT time, node_id, sum(count), max(latency_max) FROM minutes GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT time, flow_id, sum(reports) FROM flow_minutes GROUP BY 1, 2 ORDER BY 1, 2",
];
const _: () = assert!(ROW_GROUP_ROWS > 400, "a part holds several blocks");
