//! Tests of the view of a directory that the file system may not answer for.

use std::sync::mpsc::channel;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use super::Place;
use crate::sample::Folder;
use crate::tally::Counters;

#[test]
fn what_is_known_of_a_directory_is_read_while_the_file_system_does_not_answer() {
    let folder = Folder::new();
    let place = Arc::new(Place::take(folder.path(), Arc::new(Counters::default())).unwrap());
    // Like a thread that waits for the file system.
    let held = place.held.lock().unwrap_or_else(PoisonError::into_inner);
    let (told, heard) = channel();

    let reader = Arc::clone(&place);
    thread::spawn(move || told.send((reader.trouble(), reader.turn())));

    assert_eq!(heard.recv_timeout(Duration::from_secs(10)), Ok((None, 0)));
    drop(held);
}
