//! The length of a hop's metadata, for every bitmap.

use crate::int::dialect::Dialect;
use crate::int::version::Version;
use crate::words::Words;

use super::Layout;

#[test]
fn every_bit_asks_for_a_word_and_bit_6_of_1_0_for_two() {
    // int-0.5/md-03, int-1.0/md-03
    for bitmap in 0..=u16::MAX {
        let bits = u8::try_from((0..16).filter(|bit| bitmap >> bit & 1 == 1).count()).unwrap();
        let level2 = u8::from(bitmap & 0x0200 != 0);
        assert_eq!(Layout::V1_0.hop_words(bitmap), Words::new(bits + level2), "{bitmap:#06x}");
        assert_eq!(Layout::V0_5.hop_words(bitmap), Words::new(bits));
        assert_eq!(Layout::V2016.hop_words(bitmap), Words::new(bits));
    }
}

#[test]
fn a_dialect_changes_the_length_of_timestamps_and_level_2_ports_alone() {
    for bitmap in 0..=u16::MAX {
        let timestamps = u8::try_from((bitmap & 0x0c00).count_ones()).unwrap();
        let level2 = u8::from(bitmap & 0x0200 != 0);
        let plain = Layout::V1_0.hop_words(bitmap).count();
        let geant = |version| Layout::of_dialect(version, Dialect::Geant.deviations(version)).unwrap();
        let expected = Words::new(plain + timestamps - level2);
        assert_eq!(geant(Version::V1_0).hop_words(bitmap), expected, "{bitmap:#06x}");
        let expected = Words::new(Layout::V0_5.hop_words(bitmap).count() + timestamps);
        assert_eq!(geant(Version::V0_5).hop_words(bitmap), expected, "{bitmap:#06x}");
    }
}

#[test]
fn versions_before_2_have_a_layout() {
    let all = [
        (Version::V1_0, Some(Layout::V1_0)),
        (Version::V0_5, Some(Layout::V0_5)),
        (Version::HostInt0_5, Some(Layout::V0_5)),
        (Version::V2016, Some(Layout::V2016)),
        (Version::V2_1, None),
    ];
    for (version, layout) in all {
        assert_eq!((Layout::of(version), version.is_before_2()), (layout, layout.is_some()));
    }
}
