use std::fs;

use super::{REPLACED, length};
use crate::sample::Folder;

#[test]
fn a_listed_file_that_is_replaced_is_found_under_its_other_name() {
    let folder = Folder::new();
    let path = folder.path().join("00000000000000000001.parquet");
    fs::write(&path, b"rows").unwrap();
    assert_eq!(length(&path).unwrap(), 4);
    fs::rename(&path, path.with_extension(REPLACED)).unwrap();

    assert_eq!(length(&path).unwrap(), 4);
    fs::remove_file(path.with_extension(REPLACED)).unwrap();
    assert!(length(&path).is_err());
}
