//! Does the program do what every golden directory shows?

use std::path::Path;

use inband_testkit::golden::Golden;

#[test]
fn every_golden_directory_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    let golden = Golden::new(Path::new(env!("CARGO_BIN_EXE_inband")), &scratch);

    let (count, failures) = golden.run_all(&root).expect("the golden directories can be read");

    assert!(count > 0, "there are golden directories");
    assert!(failures.is_empty(), "{} of {count} fail\n\n{}", failures.len(), failures.join("\n\n"));
}
