//! The rows of an answer in order.

use std::cmp::Ordering;

use inband_model::table::Kind;

use super::column::Column;
use super::parse::Direction;
use super::plan::Plan;
use super::slots::{SlotColumn, Slots};
use super::words::{Letters, Words, letters};
use crate::budget::Charge;
use crate::history::Texts;
use crate::question::{Answer, Cell, Limits, QueryError};

/// The answer to a plan.
///
/// # Errors
/// The answer is too long or takes too much memory.
pub(super) fn answer(
    plan: &Plan,
    slots: Slots,
    words: &Words,
    charge: &mut Charge,
    limits: Limits,
) -> Result<Answer, QueryError> {
    let rows = order(plan, &slots, words);
    if rows.len() > limits.rows {
        return Err(QueryError::Rows(limits.rows));
    }
    let texts = words.all();
    let columns = plan.outputs.iter().map(|(name, _)| name.clone()).collect();
    let slots_of: Vec<(usize, bool)> =
        plan.outputs.iter().map(|(_, slot)| (*slot, plan.kind(*slot) == Some(Kind::Text))).collect();
    let mut answer = Answer { columns, ..Answer::default() };
    for row in rows {
        let cells = slots_of
            .iter()
            .map(|(slot, is_text)| cell(&slots.columns[*slot], *is_text, row as usize, &texts));
        let cells: Vec<Cell> = cells.collect();
        let letters = cells.iter().map(|cell| if let Cell::Text(text) = cell { text.len() } else { 0 });
        if !charge.add(size_of::<Cell>() * cells.len() + letters.sum::<usize>()) {
            return Err(QueryError::Memory(limits.memory_bytes));
        }
        answer.rows.push(cells);
    }
    Ok(answer)
}

/// The rows of an inner question for the outer one; ordered and cut if they are limited.
pub(super) fn arranged(plan: &Plan, slots: Slots, words: &Words) -> Slots {
    if plan.limit.is_none() && plan.offset == 0 {
        return slots;
    }
    let rows = order(plan, &slots, words);
    let picked = |column: &SlotColumn| match column {
        SlotColumn::Numbers(column) => SlotColumn::Numbers(column.pick(&rows)),
        SlotColumn::Fractions(values) => {
            SlotColumn::Fractions(rows.iter().map(|row| values[*row as usize]).collect())
        }
    };
    Slots { rows: rows.len(), columns: slots.columns.iter().map(picked).collect() }
}

fn cell(column: &SlotColumn, is_text: bool, row: usize, texts: &Texts) -> Cell {
    match column {
        SlotColumn::Fractions(values) => values[row].map_or(Cell::Null, Cell::Real),
        SlotColumn::Numbers(column) if !column.is_there(row) => Cell::Null,
        SlotColumn::Numbers(column) if is_text => {
            Cell::Text(letters(column.values[row], texts, &mut Letters::default()).to_owned())
        }
        SlotColumn::Numbers(column) => Cell::Integer(column.values[row]),
    }
}

/// The rows of the answer in order: by ORDER BY, then by the keys of GROUP BY.
fn order(plan: &Plan, slots: &Slots, words: &Words) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..u32::try_from(slots.rows).unwrap_or(u32::MAX)).collect();
    let wanted = plan
        .limit
        .map_or(usize::MAX, |limit| usize::try_from(limit.saturating_add(plan.offset)).unwrap_or(usize::MAX));
    let mut terms: Vec<Term<'_>> = Vec::new();
    let texts = words.all();
    let keys = (0..plan.keys.len()).map(|key| (key, Direction::Ascending));
    let of_groups = keys.filter(|_| plan.aggregates.is_some());
    for (slot, direction) in plan.order.iter().copied().chain(of_groups) {
        let texts = (plan.kind(slot) == Some(Kind::Text)).then_some(&*texts);
        terms.push(Term { column: &slots.columns[slot], texts, direction });
    }
    let compare = |left: &u32, right: &u32| {
        let (left_row, right_row) = (*left as usize, *right as usize);
        let differing = terms.iter().map(|term| term.compare(left_row, right_row));
        differing.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| left.cmp(right))
    };
    if !terms.is_empty() {
        if wanted < rows.len() / 2 {
            if wanted > 0 {
                rows.select_nth_unstable_by(wanted - 1, compare);
            }
            rows.truncate(wanted);
        }
        rows.sort_unstable_by(compare);
    }
    rows.truncate(wanted);
    let skipped = usize::try_from(plan.offset).unwrap_or(usize::MAX).min(rows.len());
    rows.split_off(skipped)
}

/// A term that rows are compared by.
struct Term<'a> {
    column: &'a SlotColumn,
    texts: Option<&'a Texts>,
    direction: Direction,
}

impl Term<'_> {
    fn compare(&self, left: usize, right: usize) -> Ordering {
        let order = match self.column {
            SlotColumn::Fractions(values) => {
                values[left].partial_cmp(&values[right]).unwrap_or(Ordering::Equal)
            }
            SlotColumn::Numbers(column) => match self.texts {
                None => number(column, left).cmp(&number(column, right)),
                Some(texts) => {
                    let [mut left_room, mut right_room] = [Letters::default(), Letters::default()];
                    let left = number(column, left).map(|text| letters(text, texts, &mut left_room));
                    left.cmp(&number(column, right).map(|text| letters(text, texts, &mut right_room)))
                }
            },
        };
        match self.direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        }
    }
}

fn number(column: &Column, row: usize) -> Option<i64> {
    column.is_there(row).then(|| column.values[row])
}
