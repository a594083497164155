//! The counts of all threads together.

use std::thread;

use super::counts::Counts;
use super::part::{Part, parts_of};
use super::sums::{Interface, InterfaceSums};

/// The counts of all threads, sorted by interface, summed by `workers` threads.
pub(super) fn merged(parts: &[Part], workers: usize) -> Vec<(Interface, InterfaceSums)> {
    let mut places: Vec<(Interface, u32, u32)> = Vec::new();
    for (number, part) in (0..).zip(parts) {
        places.extend(part.interfaces.iter().zip(0..).map(|(interface, place)| (*interface, number, place)));
    }
    // Each part has them in ascending runs.
    places.sort();
    let same: Vec<_> = places.chunk_by(|one, next| one.0 == next.0).collect();
    let spreads: Vec<Spreads<'_>> = parts.iter().map(Spreads::of).collect();
    let share = same.len().div_ceil(workers).max(1);
    let sums: Vec<Vec<InterfaceSums>> = thread::scope(|scope| {
        let sum = |same| {
            let spreads = &spreads;
            scope.spawn(move || summed(same, spreads))
        };
        let summing: Vec<_> = same.chunks(share).map(sum).collect();
        // A panic of a thread has been printed.
        let sums = summing.into_iter().zip(same.chunks(share));
        sums.map(|(sum, same)| sum.join().unwrap_or_else(|_| summed(same, &spreads))).collect()
    });
    same.iter().map(|places| places[0].0).zip(sums.into_iter().flatten()).collect()
}

/// The counts of interfaces from their places in the threads' counts.
fn summed(same: &[&[(Interface, u32, u32)]], spreads: &[Spreads<'_>]) -> Vec<InterfaceSums> {
    let mut counts = Counts::new();
    let of_interface = |places: &&[(Interface, u32, u32)]| {
        let mut all = InterfaceSums::default();
        for (_, number, place) in *places {
            let spread = &spreads[*number as usize];
            let sums = &spread.part.sums[*place as usize];
            all.count += sums.count;
            all.drops += sums.drops;
            all.max = all.max.max(sums.max);
            all.depth = all.depth.max(sums.depth);
            all.utilization = all.utilization.max(sums.utilization);
            spread.add_to(*place, &mut counts);
        }
        (all.p50, all.p99) = counts.take_quantiles();
        all
    };
    same.iter().map(of_interface).collect()
}

/// The latencies of one thread, grouped by place.
struct Spreads<'a> {
    part: &'a Part,
    cells: Together<u16>,
    counted: Together<(u16, u32)>,
    sketches: Together<(u32, u32)>,
}

impl<'a> Spreads<'a> {
    fn of(part: &'a Part) -> Self {
        let places = part.interfaces.len();
        let cells = part.cells.iter().map(|cell| parts_of(*cell));
        let counted = part.counted.iter().map(|(cell, count)| {
            let (place, bucket) = parts_of(*cell);
            (place, (bucket, *count))
        });
        let sketches = part.sketches.iter().map(|sketch| (sketch.place, (sketch.chunk, sketch.number)));
        Self {
            part,
            cells: Together::of(places, cells),
            counted: Together::of(places, counted),
            sketches: Together::of(places, sketches),
        }
    }

    fn add_to(&self, place: u32, counts: &mut Counts) {
        self.cells.of_place(place).iter().for_each(|bucket| counts.add((*bucket).into(), 1));
        for (bucket, count) in self.counted.of_place(place) {
            counts.add((*bucket).into(), u64::from(*count));
        }
        for (chunk, number) in self.sketches.of_place(place) {
            self.part.of_chunks[*chunk as usize].each(*number, |bucket, count| counts.add(bucket, count));
        }
    }
}

/// Values grouped by place.
struct Together<T> {
    /// The start of each group, and the end of the last.
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy + Default> Together<T> {
    fn of(places: usize, values: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0_u32; places + 2];
        values.clone().for_each(|(place, _)| starts[place as usize + 2] += 1);
        let mut all = 0;
        for start in &mut starts {
            all += *start;
            *start = all;
        }
        // The start of each group moves to its end, where the next one starts.
        let mut sorted = vec![T::default(); all as usize];
        for (place, value) in values {
            let next = &mut starts[place as usize + 1];
            sorted[*next as usize] = value;
            *next += 1;
        }
        Self { starts, values: sorted }
    }

    fn of_place(&self, place: u32) -> &[T] {
        let place = place as usize;
        &self.values[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}
