//! Buckets of several slots, with the same number of cells.

use oneread::layout::MultilevelLayout;
use oneread::plan::multilevel::MultilevelPlan;

use super::super::filled::Filled;
use super::super::{ITEMS_10K, table_10k};
use super::{means, new};
use crate::Question;
use crate::experiment::Error;
use crate::finding::Measured;
use crate::picture::{Axis, Picture, Series};
use crate::question::Answer;

/// Numbers of slots that divide all levels of the paper's table.
const SLOTS: [u32; 4] = [1, 2, 4, 5];

pub(super) fn question() -> Question {
    new(
        "buckets",
        "What do buckets of more than one slot gain, in a table of as many cells?",
        "XII: \"can be extended easily to the case where buckets can hold any constant number of items, but more analysis and experiments must be done\"",
        |context| {
            let tables = context.effort(40, 1000);
            let mut measured: Vec<[Measured; 2]> = Vec::new();
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for slots in SLOTS {
                let layout = with_slots(slots)?;
                let trial = |seed: u64| -> Result<[f64; 2], Error> {
                    let filled = Filled::plain(&layout, ITEMS_10K, seed)?;
                    Ok([filled.reaching(1) as f64, filled.reaching(2) as f64])
                };
                measured.push(means(context.each(tables, trial))?);
                if let Ok(plan) = MultilevelPlan::new(&layout, ITEMS_10K) {
                    let below = |level: usize| plan.expected()[level..].iter().sum::<f64>();
                    first.push((f64::from(slots), below(1)));
                    second.push((f64::from(slots), below(2)));
                }
            }
            // A level that was empty in all tables is not shown as measured.
            let of = |at: usize| {
                let all = SLOTS.map(f64::from).into_iter().zip(measured.iter().map(move |row| row[at]));
                all.filter(|(_, measured)| measured.value > 0.0)
            };
            let text = format!(
                "Much. In the same 60,000 cells for 10k items, {:.0} items are below the first level with one slot, {:.0} with two and {:.0} with four; below the second, {:.1} with \
                 one slot and {:.1} with two, and with four hardly ever any. As long as a bucket is one read, fewer levels are enough, and a summary has less \
                 to say.",
                measured[0][0].value,
                measured[1][0].value,
                measured[2][0].value,
                measured[0][1].value,
                measured[1][1].value,
            );
            let mut series = vec![
                Series::measured("below the first level", of(0)),
                Series::calculated("below the first level", first),
                Series::measured("below the second level", of(1)),
                Series::calculated("below the second level", second),
            ];
            series.retain(|series| !series.points.is_empty());
            let picture = Picture {
                id: "open-buckets".to_owned(),
                title: "Items below the first levels of 60,000 cells for 10k items".to_owned(),
                across: Axis::linear("slots in a bucket"),
                up: Axis::log("items"),
                series,
                caption: "Each slot more makes an overflow rarer by a factor: with four slots, the second level has hardly anything to do.".to_owned(),
            };
            Ok(Answer { text, picture })
        },
    )
}

/// The paper's table with the same number of cells in each level.
fn with_slots(slots: u32) -> Result<MultilevelLayout, Error> {
    let levels: Vec<u64> = table_10k()?.levels().iter().map(|buckets| buckets / u64::from(slots)).collect();
    Ok(MultilevelLayout::new(levels)?.with_slots(slots)?)
}
