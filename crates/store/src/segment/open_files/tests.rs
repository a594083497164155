use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::{Found, MAX_OPEN, OpenFiles};
use crate::sample::Folder;

fn found(path: &Path, text: &str) -> Found {
    fs::write(path, text).unwrap();
    Found::look(path).unwrap()
}

#[test]
fn a_file_stays_open_until_more_recently_read_ones_take_its_room() {
    let (folder, open) = (Folder::new(), OpenFiles::default());
    let files: Vec<Found> =
        (0..=MAX_OPEN).map(|number| found(&folder.path().join(number.to_string()), "text")).collect();
    let first: Vec<_> = files[..MAX_OPEN].iter().map(|file| open.open(file).unwrap()).collect();
    let again: Vec<_> = files[..MAX_OPEN].iter().map(|file| open.open(file).unwrap()).collect();
    assert!(first.iter().zip(&again).all(|(one, other)| Arc::ptr_eq(one, other)));

    // The first one was read last, so the second one makes room.
    open.open(&files[0]).unwrap();
    open.open(&files[MAX_OPEN]).unwrap();
    assert_eq!(open.files().len(), MAX_OPEN);
    assert!(Arc::ptr_eq(&open.open(&files[0]).unwrap(), &first[0]));
    assert!(!Arc::ptr_eq(&open.open(&files[1]).unwrap(), &first[1]));
}

#[test]
fn a_removed_file_is_still_read_and_another_one_in_its_place_is_not() {
    let (folder, open) = (Folder::new(), OpenFiles::default());
    let path = folder.path().join("0");
    let file = found(&path, "text");
    open.open(&file).unwrap();
    fs::remove_file(&path).unwrap();
    let mut bytes = [0; 4];
    open.open(&file).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"text");

    fs::write(&path, "another text").unwrap();
    assert!(OpenFiles::default().open(&file).is_err());
}
