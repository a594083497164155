//! Aggregates of groups, computed as rows arrive.

use std::collections::HashSet;

use super::column::Column;
use super::groups::Run;
use super::plan::Aggregate;
use super::stop::Stop;
use super::values::Values;
use crate::mixer::Seed;

/// The state of an aggregate for all groups.
#[derive(Debug)]
pub(super) enum State {
    Rows(Vec<i64>),
    Count(Vec<i64>),
    /// Distinct values with their group, and their number per group.
    Distinct(HashSet<(u32, i64), Seed>, Vec<i64>),
    /// Sum and number of values per group.
    Sum(Vec<(i64, i64)>),
    Least(Vec<Option<i64>>),
    Greatest(Vec<Option<i64>>),
    /// All values per group, and their bytes.
    Values(Vec<Values>, usize),
    /// A quantile of the values that the aggregate in this place has.
    Same(usize),
}

/// The results of all groups.
#[derive(Debug)]
pub(super) enum Outcome {
    Numbers(Vec<Option<i64>>),
    Fractions(Vec<Option<f64>>),
}

impl State {
    /// The states of the aggregates of a question, each in its place.
    pub(super) fn of_all<'a>(aggregates: impl Iterator<Item = &'a Aggregate> + Clone) -> Vec<Self> {
        let earlier = |place: usize, of: &Aggregate| {
            let is_same = |one: &Aggregate| match (one, of) {
                (Aggregate::Quantile(one, _), Aggregate::Quantile(other, _)) => one == other,
                _ => false,
            };
            aggregates.clone().take(place).position(is_same)
        };
        let state =
            |(place, of): (usize, &Aggregate)| earlier(place, of).map_or_else(|| Self::of(of), Self::Same);
        aggregates.clone().enumerate().map(state).collect()
    }

    fn of(aggregate: &Aggregate) -> Self {
        match aggregate {
            Aggregate::Rows => Self::Rows(Vec::new()),
            Aggregate::Count(_) => Self::Count(Vec::new()),
            Aggregate::Distinct(_) => Self::Distinct(HashSet::default(), Vec::new()),
            Aggregate::Sum(_) | Aggregate::Average(_) => Self::Sum(Vec::new()),
            Aggregate::Least(_) => Self::Least(Vec::new()),
            Aggregate::Greatest(_) => Self::Greatest(Vec::new()),
            Aggregate::Quantile(..) => Self::Values(Vec::new(), 0),
        }
    }

    /// Adds the values of some rows of `groups` groups.
    ///
    /// # Errors
    /// A sum overflows, or rows have no value.
    pub(super) fn add(&mut self, runs: &[Run], column: Option<&Column>, groups: usize) -> Result<(), Stop> {
        self.make_room(groups);
        match (self, column) {
            (Self::Same(_), _) => Ok(()),
            (Self::Rows(counts), _) => {
                runs.iter().for_each(|run| counts[run.group as usize] += run.rows as i64);
                Ok(())
            }
            (_, None) => Err(Stop::GiveUp),
            (state, Some(column)) => {
                let mut row = 0;
                for run in runs {
                    let (group, part) = (run.group as usize, row..row + run.rows);
                    row = part.end;
                    let values = column.values.get(part.clone()).ok_or(Stop::GiveUp)?.iter().copied();
                    match &column.valid {
                        None => state.add_values(group, values)?,
                        Some(valid) => {
                            let valid = valid.get(part).ok_or(Stop::GiveUp)?.iter();
                            let there = values.zip(valid).filter(|(_, valid)| **valid);
                            state.add_values(group, there.map(|(value, _)| value))?;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Adds values of one group.
    fn add_values(&mut self, group: usize, values: impl Iterator<Item = i64>) -> Result<(), Stop> {
        match self {
            Self::Rows(_) | Self::Same(_) => {}
            Self::Count(counts) => counts[group] += values.count() as i64,
            Self::Distinct(known, counts) => {
                let number = u32::try_from(group).map_err(|_| Stop::GiveUp)?;
                counts[group] += values.filter(|value| known.insert((number, *value))).count() as i64;
            }
            Self::Sum(sums) => {
                let (sum, count) = &mut sums[group];
                for value in values {
                    *sum = sum.checked_add(value).ok_or(Stop::GiveUp)?;
                    *count += 1;
                }
            }
            Self::Least(least) => least[group] = values.chain(least[group]).min(),
            Self::Greatest(greatest) => greatest[group] = values.chain(greatest[group]).max(),
            Self::Values(of, bytes) => *bytes += of[group].extend(values),
        }
        Ok(())
    }

    /// Merges another state; `places` maps its groups to the groups here.
    ///
    /// # Errors
    /// A sum overflows.
    pub(super) fn merge(&mut self, other: Self, places: &[u32], groups: usize) -> Result<(), Stop> {
        self.make_room(groups);
        let places = places.iter().map(|place| *place as usize);
        match (self, other) {
            (Self::Rows(counts), Self::Rows(more)) | (Self::Count(counts), Self::Count(more)) => {
                places.zip(more).for_each(|(place, more)| counts[place] += more);
            }
            (Self::Distinct(known, counts), Self::Distinct(more, _)) => {
                let places: Vec<usize> = places.collect();
                for (group, value) in more {
                    let place = places[group as usize];
                    let number = u32::try_from(place).map_err(|_| Stop::GiveUp)?;
                    counts[place] += i64::from(known.insert((number, value)));
                }
            }
            (Self::Sum(sums), Self::Sum(more)) => {
                for (place, (more, of)) in places.zip(more) {
                    let (sum, count) = &mut sums[place];
                    *sum = sum.checked_add(more).ok_or(Stop::GiveUp)?;
                    *count += of;
                }
            }
            (Self::Least(least), Self::Least(more)) => {
                for (place, more) in places.zip(more) {
                    least[place] = [least[place], more].into_iter().flatten().min();
                }
            }
            (Self::Greatest(greatest), Self::Greatest(more)) => {
                places.zip(more).for_each(|(place, more)| greatest[place] = greatest[place].max(more));
            }
            (Self::Values(values, bytes), Self::Values(more, of)) => {
                *bytes += of;
                places.zip(more).for_each(|(place, more)| values[place].append(more));
            }
            (Self::Same(_), Self::Same(_)) => {}
            _ => return Err(Stop::GiveUp),
        }
        Ok(())
    }

    /// The results of an aggregate. Reorders the values.
    pub(super) fn outcome(&mut self, aggregate: &Aggregate, groups: usize) -> Outcome {
        self.make_room(groups);
        let numbers = match (self, aggregate) {
            (Self::Sum(sums), Aggregate::Average(_)) => {
                let average = |(sum, count): &(i64, i64)| (*count > 0).then(|| *sum as f64 / *count as f64);
                return Outcome::Fractions(sums.iter().map(average).collect());
            }
            (Self::Values(values, _), Aggregate::Quantile(_, share)) => quantiles(values, *share),
            (Self::Rows(counts) | Self::Count(counts) | Self::Distinct(_, counts), _) => {
                counts.iter().copied().map(Some).collect()
            }
            (Self::Sum(sums), _) => sums.iter().map(|(sum, count)| (*count > 0).then_some(*sum)).collect(),
            (Self::Least(values) | Self::Greatest(values), _) => values.clone(),
            (Self::Values(values, _), _) => vec![None; values.len()],
            (Self::Same(_), _) => vec![None; groups],
        };
        Outcome::Numbers(numbers)
    }

    /// Bytes of memory, approximately.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Rows(counts) | Self::Count(counts) => counts.capacity() * 8,
            Self::Distinct(known, counts) => known.capacity() * 24 + counts.capacity() * 8,
            Self::Sum(sums) => sums.capacity() * 16,
            Self::Least(values) | Self::Greatest(values) => values.capacity() * 16,
            // Vectors grow to twice the size that they need.
            Self::Values(values, bytes) => values.capacity() * size_of::<Values>() + bytes * 2,
            Self::Same(_) => 0,
        }
    }

    fn make_room(&mut self, groups: usize) {
        match self {
            Self::Rows(counts) | Self::Count(counts) | Self::Distinct(_, counts) => counts.resize(groups, 0),
            Self::Sum(sums) => sums.resize(groups, (0, 0)),
            Self::Least(values) | Self::Greatest(values) => values.resize(groups, None),
            Self::Values(values, _) => values.resize_with(groups, Values::default),
            Self::Same(_) => {}
        }
    }
}

/// A quantile of each group, computed by two threads.
fn quantiles(groups: &mut [Values], share: f64) -> Vec<Option<i64>> {
    let half = groups.len().div_ceil(2).max(1);
    let mut parts = groups.chunks_mut(half);
    let of = |part: &mut [Values]| -> Vec<Option<i64>> {
        part.iter_mut().map(|values| values.quantile(share)).collect()
    };
    let (Some(first), second) = (parts.next(), parts.next()) else { return Vec::new() };
    std::thread::scope(|scope| {
        let other = second.map(|second| scope.spawn(move || of(second)));
        let mut found = of(first);
        if let Some(other) = other {
            found.extend(other.join().unwrap_or_default());
        }
        found
    })
}
