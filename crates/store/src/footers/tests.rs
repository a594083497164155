use std::fs;
use std::sync::Arc;

use inband_model::table::OBSERVATIONS;

use super::{Footers, MAX_BYTES};
use crate::error::StoreError;
use crate::layout;
use crate::sample::{Folder, reports};
use crate::store::{Offered, Store};

fn segment(folder: &Folder) -> std::path::PathBuf {
    let store = Store::open(folder.settings()).unwrap();
    assert_eq!(store.offer(reports(0, 100)), Offered::Queued);
    store.close();
    layout::segments(folder.path(), OBSERVATIONS.name).unwrap().remove(0).path
}

#[test]
fn a_footer_is_read_once_and_again_when_the_file_has_changed() {
    let (folder, footers) = (Folder::new(), Footers::default());
    let (path, shape) = (segment(&folder), OBSERVATIONS.shape());
    assert_eq!(footers.open(&path, &shape, &Arc::default()).unwrap().rows(0), 100);
    let bytes = footers.bytes();
    assert!(bytes > 0);
    assert_eq!(footers.open(&path, &shape, &Arc::default()).unwrap().rows(0), 100);
    assert_eq!(footers.bytes(), bytes);

    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(footers.open(&path, &shape, &Arc::default()), Err(StoreError::Damaged { .. })));
    fs::write(&path, &whole).unwrap();
    assert_eq!(footers.open(&path, &shape, &Arc::default()).unwrap().rows(0), 100);
    assert_eq!(footers.bytes(), bytes);
}

#[test]
fn what_was_not_asked_for_lately_makes_room() {
    let (folder, footers) = (Folder::new(), Footers::default());
    let (path, shape) = (segment(&folder), OBSERVATIONS.shape());
    let names = |number: usize| folder.path().join(format!("{number}.parquet"));
    fs::copy(&path, names(0)).unwrap();
    footers.open(&names(0), &shape, &Arc::default()).unwrap();
    let fit = MAX_BYTES / usize::try_from(footers.bytes()).unwrap();
    for number in 1..=fit + 1 {
        fs::hard_link(names(0), names(number)).unwrap();
        footers.open(&names(number), &shape, &Arc::default()).unwrap();
        // The first one is used throughout.
        footers.open(&names(0), &shape, &Arc::default()).unwrap();
        assert!(footers.bytes() <= MAX_BYTES as u64);
    }
    let kept = footers.kept();
    assert!(
        kept.footers.contains_key(names(0).as_os_str())
            && kept.footers.contains_key(names(fit + 1).as_os_str())
    );
    assert!(!kept.footers.contains_key(names(1).as_os_str()));
    assert_eq!(kept.bytes, kept.footers.values().map(|footer| footer.bytes).sum::<usize>());
}
