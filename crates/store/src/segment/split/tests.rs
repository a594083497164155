use proptest::prelude::{any, prop_assert_eq, proptest};

use super::{pick_split, put_split, sorted_split, take_split};

proptest! {
    #[test]
    fn numbers_come_back_behind_what_was_there(numbers in proptest::collection::vec(any::<i64>(), 0..300), shift in 0u32..64) {
        let numbers: Vec<i64> = numbers.iter().map(|number| number >> shift).collect();
        let mut bytes = Vec::new();
        put_split(&mut bytes, &numbers.iter().map(|number| number.cast_unsigned()).collect::<Vec<_>>());
        let mut found = vec![7];
        take_split(&bytes, &mut found, numbers.len(), numbers.len()).unwrap();
        prop_assert_eq!(&found[1..], &numbers[..]);
        prop_assert_eq!(found[0], 7);
        prop_assert_eq!(take_split(&bytes, &mut found, numbers.len() + 1, 1), None);
        let rows: Vec<u32> = (0..).zip(&numbers).filter(|(_, number)| **number % 3 != 0).map(|(row, _)| row).collect();
        let mut picked = vec![7];
        pick_split(&bytes, &mut picked, numbers.len(), &rows).unwrap();
        let expected = rows.iter().map(|row| numbers[*row as usize]);
        prop_assert_eq!(&picked, &[7].into_iter().chain(expected).collect::<Vec<_>>());
        prop_assert_eq!(pick_split(&bytes, &mut picked, numbers.len(), &[0, u32::try_from(numbers.len()).unwrap()]), None);
    }

    #[test]
    fn sorted_numbers_are_found_where_they_are(
        mut numbers in proptest::collection::vec(-50i64..50, 0..100), least in -60i64..60, length in 0i64..40,
    ) {
        numbers.sort_unstable();
        let mut bytes = Vec::new();
        put_split(&mut bytes, &numbers.iter().map(|number| number.cast_unsigned()).collect::<Vec<_>>());
        let found = sorted_split(&bytes, numbers.len(), least, least + length).unwrap();
        let wanted = (0..numbers.len()).filter(|row| (least..=least + length).contains(&numbers[*row]));
        prop_assert_eq!(found.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
        prop_assert_eq!(sorted_split(&bytes, numbers.len(), least, least - 1).unwrap().len(), 0);
        prop_assert_eq!(sorted_split(&bytes, numbers.len() + 1, least, least), None);
    }
}
