use std::fs;

use super::{REPLACED, segments};
use crate::sample::Folder;

#[test]
fn the_size_of_a_listed_file_that_is_replaced_is_that_of_its_other_name() {
    let folder = Folder::new();
    let hour = folder.path().join("minutes/date=2026-11-28/hour=16");
    fs::create_dir_all(&hour).unwrap();
    let path = hour.join("00000000000000000001.parquet");
    fs::write(&path, b"rows").unwrap();
    let listed = segments(folder.path(), "minutes").unwrap();
    assert_eq!(listed.iter().map(|file| file.bytes()).collect::<Vec<_>>(), [4]);

    fs::rename(&path, path.with_extension(REPLACED)).unwrap();
    assert_eq!(listed[0].bytes(), 4);
    assert!(segments(folder.path(), "minutes").unwrap().is_empty());
    fs::remove_file(path.with_extension(REPLACED)).unwrap();
    assert_eq!(listed[0].bytes(), 0);
}
