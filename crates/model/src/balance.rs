//! Measures of how evenly loads are spread.

/// The highest load over the mean, thousandths: 1000 where all are equal, 0 where there is none.
#[must_use]
pub fn highest_to_mean_permille(loads: &[u64]) -> u64 {
    let sum: u128 = loads.iter().map(|load| u128::from(*load)).sum();
    let highest = u128::from(loads.iter().copied().max().unwrap_or(0));
    u64::try_from((highest * loads.len() as u128 * 1_000).checked_div(sum).unwrap_or(0)).unwrap_or(u64::MAX)
}

/// Jain's index: the square of the sum over the number times the sum of squares, thousandths.
#[must_use]
pub fn jain_permille(loads: &[u64]) -> u64 {
    // Scaled so that the squares of the sum fit.
    let scale = loads.iter().copied().max().unwrap_or(0) / u64::from(u32::MAX) + 1;
    let loads = loads.iter().map(|load| u128::from(load / scale));
    let count = loads.clone().count() as u128;
    let (sum, squares) = loads.fold((0, 0), |(sum, squares), load| (sum + load, squares + load * load));
    let index = (sum * sum * 1_000).checked_div(count * squares).unwrap_or(1_000);
    u64::try_from(index).unwrap_or(1_000)
}

#[cfg(test)]
mod tests {
    use super::{highest_to_mean_permille, jain_permille};

    #[test]
    fn equal_loads_are_one_and_one_of_n_is_n_and_its_inverse() {
        assert_eq!((highest_to_mean_permille(&[5, 5, 5]), jain_permille(&[5, 5, 5])), (1_000, 1_000));
        assert_eq!((highest_to_mean_permille(&[9, 0, 0]), jain_permille(&[9, 0, 0])), (3_000, 333));
        assert_eq!((highest_to_mean_permille(&[0, 0]), jain_permille(&[0, 0])), (0, 1_000));
        assert_eq!((highest_to_mean_permille(&[]), jain_permille(&[])), (0, 1_000));
    }

    #[test]
    fn measures_lie_on_both_sides_of_what_is_told_as_unequal() {
        // The mean is 100.
        assert_eq!(highest_to_mean_permille(&[130, 70]), 1_300);
        assert_eq!(highest_to_mean_permille(&[131, 69]), 1_310);
        assert_eq!(jain_permille(&[100, 50]), 900);
        assert_eq!(jain_permille(&[100, 49]), 895);
    }

    #[test]
    fn loads_beyond_all_measure_do_no_harm() {
        assert_eq!(jain_permille(&[u64::MAX; 32]), 1_000);
        assert_eq!(highest_to_mean_permille(&[u64::MAX; 32]), 1_000);
    }
}
