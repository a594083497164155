use std::time::Duration;

use super::Screen;
use crate::canvas::{BOLD, PLAIN};
use crate::demo::monitor::temporary_path;
use crate::demo::{Args, ModeArg, Show, Stage};

const RUN: Duration = Duration::from_secs(3);

#[test]
fn the_picture_fits_terminals_of_every_size() {
    let (screen, stage) = after_a_run();

    for width in [0, 1, 20, 79, 80, 200] {
        for height in [0, 1, 2, 9, 15, 24, 60] {
            let lines = visible(&screen, &stage, (width, height));
            assert!(lines.len() < height.max(2), "{} lines on {width}x{height}", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}x{height}: {lines:#?}");
        }
    }
}

#[test]
fn eighty_columns_and_24_lines_show_flows_queue_and_events() {
    let (screen, stage) = after_a_run();

    let lines = visible(&screen, &stage, (80, 24));

    let find = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(find("tcp 10.0.1.1:40000 > 10.0.4.2:443    leaf1 spine2 leaf4"), "{lines:#?}");
    assert!(find("queue-congestion: leaf1 interface 2"), "{lines:#?}");
    assert!(find("Deepest queue"), "{lines:#?}");
    assert!(find("0 lost, 0 malformed"), "{lines:#?}");
}

#[test]
fn a_change_of_path_shows_both_paths() {
    let (screen, stage) = after_a_run();

    // On a busy machine the congestion that follows is several episodes, which push it down.
    let lines = visible(&screen, &stage, (80, 60));

    let find = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(find("path-change: tcp 10.0.1.1:40000 > 10.0.4.2:443"), "{lines:#?}");
    assert!(find("leaf1 spine1 leaf4 -> leaf1 spine2 leaf4"), "{lines:#?}");
}

/// A run as fast as the machine allows, up to the congestion.
fn after_a_run() -> (Screen<Vec<u8>>, Stage) {
    let args = Args {
        duration: Some(RUN),
        json: false,
        mode: ModeArg::Md,
        seed: 1,
        report_to: None,
        write_names: None,
        api: None,
        no_page: true,
        store: None,
    };
    let mut stage = Stage::new(&args, temporary_path()).unwrap();
    let mut screen = Screen::new(Vec::new());
    for step in 1..=35 {
        let elapsed = step * Duration::from_millis(50);
        stage.perform(elapsed).unwrap();
        stage.attend(&mut screen, elapsed).unwrap();
    }
    for _ in 0..1_000 {
        stage.attend(&mut screen, RUN).unwrap();
        if !stage.is_waiting() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    screen.tick(&stage.progress(RUN)).unwrap();
    (screen, stage)
}

fn visible(screen: &Screen<Vec<u8>>, stage: &Stage, size: (usize, usize)) -> Vec<String> {
    let lines = screen.lines(&stage.progress(RUN), size);
    lines.iter().map(|line| line.replace(BOLD, "").replace(PLAIN, "")).collect()
}
