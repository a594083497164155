//! The results of all threads together.

use super::aggregate::{Outcome, State};
use super::column::Column;
use super::plan::Aggregate;
use super::slots::{SlotColumn, Slots};
use super::stop::Stop;
use super::worker::Part;
use crate::budget::Charge;

/// The slots of all threads' groups.
pub(super) fn grouped(
    parts: Vec<Part>,
    aggregates: &[Aggregate],
    keys: usize,
    charge: &mut Charge,
) -> Result<Slots, Stop> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().ok_or(Stop::GiveUp)?;
    if keys == 0 {
        // Without rows there is still one group.
        all.groups.find(&[0]).ok_or(Stop::GiveUp)?;
    }
    for part in parts {
        let places = (0..part.groups.len()).map(|group| all.groups.find(part.groups.key(group)));
        let places: Vec<u32> = places.collect::<Option<_>>().ok_or(Stop::GiveUp)?;
        for (state, other) in all.states.iter_mut().zip(part.states) {
            state.merge(other, &places, all.groups.len())?;
        }
        let bytes = all.groups.bytes() + all.states.iter().map(State::bytes).sum::<usize>();
        drop(part.charge);
        all.charge.set(bytes).then_some(()).ok_or(Stop::GiveUp)?;
    }
    let rows = all.groups.len();
    charge.add(rows * (keys + aggregates.len()) * 16).then_some(()).ok_or(Stop::GiveUp)?;
    let mut columns: Vec<SlotColumn> = (0..keys)
        .map(|place| {
            let words = |group| all.groups.key(group);
            let values: Vec<i64> = (0..rows).map(|group| words(group)[place]).collect();
            let valid: Vec<bool> = (0..rows).map(|group| words(group)[keys] >> place & 1 == 1).collect();
            SlotColumn::Numbers(Column::numbers(values, valid.contains(&false).then_some(valid)))
        })
        .collect();
    for (place, aggregate) in aggregates.iter().enumerate() {
        let place = match all.states[place] {
            State::Same(first) => first,
            _ => place,
        };
        columns.push(match all.states[place].outcome(aggregate, rows) {
            Outcome::Fractions(fractions) => SlotColumn::Fractions(fractions),
            Outcome::Numbers(numbers) => {
                let valid: Vec<bool> = numbers.iter().map(Option::is_some).collect();
                let values: Vec<i64> = numbers.into_iter().map(|number| number.unwrap_or(0)).collect();
                SlotColumn::Numbers(Column::numbers(values, valid.contains(&false).then_some(valid)))
            }
        });
    }
    Ok(Slots { rows, columns })
}

/// The slots of all threads' rows, in stored order.
pub(super) fn listed(parts: Vec<Part>, keys: usize, charge: &mut Charge) -> Result<Slots, Stop> {
    let mut lists: Vec<(usize, Vec<Column>)> = Vec::new();
    for part in parts {
        charge.take_over(part.charge);
        lists.extend(part.lists);
    }
    lists.sort_by_key(|(part, _)| *part);
    let rows = lists.iter().map(|(_, columns)| columns.first().map_or(0, |column| column.values.len())).sum();
    let column = |place: usize| {
        let mut values = Vec::with_capacity(rows);
        let mut valid = Vec::new();
        for (_, columns) in &lists {
            let column = &columns[place];
            if let Some(some) = &column.valid {
                valid.resize(values.len(), true);
                valid.extend(some.iter());
            }
            values.extend_from_slice(&column.values);
            if !valid.is_empty() {
                valid.resize(values.len(), true);
            }
        }
        SlotColumn::Numbers(Column::numbers(values, (!valid.is_empty()).then_some(valid)))
    };
    charge.add(rows * keys * 8).then_some(()).ok_or(Stop::GiveUp)?;
    Ok(Slots { rows, columns: (0..keys).map(column).collect() })
}
