//! Lazy deletion or counters, under five orders of deletion.
//!
//! With counters, a deletion frees the bucket at once, and nothing ever moves up. With lazy
//! deletion, items stay until a rebuild, which moves others up into the free buckets. Both are the
//! library's maps of 9090 items, in rounds of 909 deletions and 909 insertions.

use oneread::layout::{CountingFiltersLayout, MultipleFiltersLayout, SingleFilterLayout};
use oneread::plan::multilevel::MultilevelPlan;
use oneread::summary::SingleFilterSummary;
use oneread::table::MultilevelTable;
use oneread_study::hash::Ideal;
use oneread_study::summary::{LazilyDeleting, Rebuild};

use super::super::summary::FILTERS_10K;
use super::super::table_10k;
use super::{means, new};
use crate::Question;
use crate::experiment::Error;
use crate::papers::random::Random;
use crate::picture::{Axis, Picture, Point, Series, Source};
use crate::question::Answer;

const ALIVE: u64 = 9090;
const DELETED: u64 = 909;
/// Enough to replace all initial items, except the longest-lived.
const ROUNDS: u64 = 30;

/// Which item is deleted next.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Uniform,
    FirstLevel,
    Fifo,
    Lifo,
    Skewed,
}

const ORDERS: [(Order, &str); 5] = [
    (Order::Uniform, "any item"),
    (Order::FirstLevel, "items of the first level"),
    (Order::Fifo, "the oldest (FIFO)"),
    (Order::Lifo, "the newest (LIFO)"),
    (Order::Skewed, "nine of ten among the newest tenth"),
];

pub(super) fn question() -> Question {
    new(
        "deletions",
        "Lazy deletion or counters: which is better, under which workload?",
        "XII: \"a detailed analysis of deletion workloads … would also be worthwhile\"",
        |context| {
            let tables = context.effort(8, 200);
            let mut rows = Vec::new();
            for (order, _) in ORDERS {
                rows.push(means(context.each(tables, |seed| compared(order, seed)))?);
            }
            let of = |at: usize| {
                move |(row, measured): (usize, &[crate::finding::Measured; 3])| Point {
                    x: row as f64,
                    y: measured[at].value,
                    error: measured[at].standard_error,
                }
            };
            let points = |at: usize| rows.iter().enumerate().map(of(at)).collect::<Vec<_>>();
            let fresh: f64 = MultilevelPlan::new(&table_10k()?, ALIVE)?.expected()[1..].iter().sum();
            let fresh_row = |row: usize| Point { x: row as f64, y: fresh, error: 0.0 };
            let [least, most] = [f64::min, f64::max].map(|pick: fn(f64, f64) -> f64| {
                rows.iter().map(|row| row[2].value).reduce(pick).unwrap_or(0.0)
            });
            let filters = MultipleFiltersLayout::new(FILTERS_10K)?;
            let growth =
                CountingFiltersLayout::usual(filters.clone()).byte_len() as f64 / filters.byte_len() as f64;
            let text = format!(
                "Lazy deletion, unless no item may ever move. It moves {least:.2} to {most:.2} items a deletion, depending on the workload, and after {ROUNDS} rounds {:.0} items are below \
                 the first level under uniform deletions, as in a fresh table ({fresh:.0}), and {:.0} if the first level is what is deleted from. Counters move nothing, \
                 take {growth:.1} times the bytes of the filters, and leave {:.0} and {:.0} there; only under LIFO are the two the same.",
                rows[0][0].value, rows[1][0].value, rows[0][1].value, rows[1][1].value,
            );
            let picture = Picture {
                id: "open-deletions".to_owned(),
                title: format!("Items below the first level after {ROUNDS} rounds of deletions, of {ALIVE}"),
                across: Axis::linear("items below the first level"),
                up: Axis::rows("deleted", ORDERS.map(|(_, name)| name.to_owned()).into()),
                series: vec![
                    Series::new("lazy deletion", Source::Measured, points(0)),
                    Series::new("counters", Source::Measured, points(1)),
                    Series::new("a fresh table", Source::Calculated, (0..ORDERS.len()).map(fresh_row).collect()),
                ],
                caption: "Items below the first level are what summaries fail on. A rebuild moves them up again; counters let them pile up, most of all where the \
                          first level is emptied again and again."
                    .to_owned(),
            };
            Ok(Answer { text, picture })
        },
    )
}

/// Items below the first level, with lazy deletion and with counters, and the items that a rebuild
/// moved per deletion.
fn compared(order: Order, seed: u64) -> Result<[f64; 3], Error> {
    let layout = table_10k()?;
    let digester = Ideal::with_seed(seed);
    // The summary does not affect the places of items; a small one is rebuilt faster.
    let summary = SingleFilterSummary::with_digester(
        SingleFilterLayout::new(1000, 1)?,
        layout.level_count(),
        digester,
    )?;
    let table = MultilevelTable::with_digester(layout.clone(), digester)?;
    let mut lazy = LazilyDeleting::new(table, summary, Rebuild::when_asked())?;
    // The table that a counting summary would be joined to.
    let mut counted = MultilevelTable::with_digester(layout, digester)?;
    let crisis = |_| Error::from("a crisis: no room for an item");
    let mut alive = [Vec::new(), Vec::new()];
    for item in 0..ALIVE {
        lazy.insert(item, ()).map_err(crisis)?;
        counted.insert(item, ()).map_err(crisis)?;
        alive.iter_mut().for_each(|alive| alive.push(item));
    }
    let random = Random::with_seed(seed);
    let (mut next, mut draws, mut moved) = (ALIVE, 0u64, 0u64);
    for _ in 0..ROUNDS {
        for _ in 0..DELETED {
            let in_first = |item: &u64| lazy.location(item).is_some_and(|at| at.level == 0);
            let item = chosen(order, &mut alive[0], random, &mut draws, in_first);
            _ = lazy.remove(&item);
            let in_first = |item: &u64| counted.locate(item).location.is_some_and(|at| at.level == 0);
            let item = chosen(order, &mut alive[1], random, &mut draws, in_first);
            _ = counted.remove(&item);
        }
        moved += lazy.rebuild();
        for item in next..next + DELETED {
            lazy.insert(item, ()).map_err(crisis)?;
            counted.insert(item, ()).map_err(crisis)?;
            alive.iter_mut().for_each(|alive| alive.push(item));
        }
        next += DELETED;
    }
    let below = |level: Option<usize>| level.is_some_and(|level| level > 0);
    let of_lazy = alive[0].iter().filter(|item| below(lazy.location(item).map(|at| at.level))).count();
    let of_counted =
        alive[1].iter().filter(|item| below(counted.locate(*item).location.map(|at| at.level))).count();
    Ok([of_lazy as f64, of_counted as f64, moved as f64 / (ROUNDS * DELETED) as f64])
}

/// Takes the next item to delete from those alive, which are in insertion order.
fn chosen(
    order: Order,
    alive: &mut Vec<u64>,
    random: Random,
    draws: &mut u64,
    in_first: impl Fn(&u64) -> bool,
) -> u64 {
    let count = alive.len() as u64;
    let mut draw = || {
        *draws += 1;
        // Choices of items that are never inserted.
        random.item((1 << 40) + *draws)
    };
    let at = match order {
        Order::Uniform => draw().below(0, count),
        Order::FirstLevel => loop {
            let at = draw().below(0, count);
            if in_first(&alive[at]) {
                break at;
            }
        },
        Order::Fifo => 0,
        Order::Lifo => alive.len() - 1,
        Order::Skewed => {
            let newest = count / 10;
            let is_new = draw().below(0, 10) > 0;
            if is_new { (count - newest) as usize + draw().below(0, newest) } else { draw().below(0, count) }
        }
    };
    alive.remove(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_and_the_newest_are_chosen() {
        let random = Random::with_seed(1);
        let mut alive = vec![5, 6, 7];
        assert_eq!(chosen(Order::Fifo, &mut alive, random, &mut 0, |_| true), 5);
        assert_eq!(chosen(Order::Lifo, &mut alive, random, &mut 0, |_| true), 7);
        assert_eq!(chosen(Order::FirstLevel, &mut vec![1, 2], random, &mut 0, |item| *item == 2), 2);
    }
}
