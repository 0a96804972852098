//! What the paper leaves open: whether moves on deletions help cuckoo hashing, and which hints are
//! best.

mod cuckoo;

use oneread::layout::{HintChain, HintRule, Hints, Moves};
use oneread_study::simulate::Simulation;

use self::cuckoo::Table;
use super::halving;
use super::table_i::simulate;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::picture::{Axis, Picture, Point, Series, Source};
use crate::question::Answer;
use crate::{Paper, Question};

pub(in super::super) fn questions() -> Vec<Question> {
    vec![
        Question::new(
            Paper::Moves,
            "open/hints",
            "Which hint should a cell keep: the newest, the deepest, or that of the next level?",
            "III: replacing any hint \"performed best of our proposed schemes\"; how the deepest was kept is not told",
            hints,
        ),
        Question::new(
            Paper::Moves,
            "open/cuckoo",
            "Do moves on deletions help cuckoo hashing too?",
            "V: \"it is interesting to consider whether moves on deletions could improve practical performance significantly\"",
            cuckoo,
        ),
    ]
}

/// The mean stash of 8192 items in four levels, with one move per deletion and Second Chance, by
/// rule.
fn hints(context: &Context) -> Result<Answer, Error> {
    const ITEMS: u64 = 8192;
    const LEVELS: u32 = 4;
    const RULES: [(HintRule, &str); 4] = [
        (HintRule::Replace, "the newest (the paper's)"),
        (HintRule::Deepest, "the deepest, if still good"),
        (HintRule::Next, "the newest of the next level"),
        (HintRule::DeepestUnchecked, "the deepest, good or not"),
    ];
    let mut stashes = Vec::new();
    for (rule, _) in RULES {
        let moves = Moves::Both(Hints { rule, chain: HintChain::One });
        let simulation = Simulation::new(halving(ITEMS, LEVELS, moves)?, ITEMS)?;
        let steps = simulation.warm_up() + context.effort(60, 600) * ITEMS;
        let report = simulate(context, &simulation.with_steps(steps), context.effort(16, 100))?;
        let stash = report.mean_stash().ok_or("no steps after the warm-up")?;
        stashes.push(Measured { value: stash.mean, standard_error: stash.standard_error });
    }
    let text = format!(
        "The deepest, if it is looked up before it is kept: {:.2} items are in the stash on average, against {:.2} by the paper's rule, {:.2} by the deepest without a look and {:.2} by hints of the next level alone.",
        stashes[1].value, stashes[0].value, stashes[3].value, stashes[2].value
    );
    let point =
        |(row, of): (usize, &Measured)| Point { x: row as f64, y: of.value, error: of.standard_error };
    let picture = Picture {
        id: "open-hints".to_owned(),
        title: format!("The average stash of {ITEMS} items in four levels, by the hint that a cell keeps"),
        across: Axis::linear("items in the stash, average"),
        up: Axis::rows("hint", RULES.map(|(_, name)| name.to_owned()).into()),
        series: vec![Series::new("", Source::Measured, stashes.iter().enumerate().map(point).collect())],
        caption:
            "One move a deletion and Second Chance. An item from deep below makes room where it is dearest."
                .to_owned(),
    };
    Ok(Answer { text, picture })
}

const LOADS: [f64; 4] = [0.7, 0.8, 0.9, 0.95];

fn cuckoo(context: &Context) -> Result<Answer, Error> {
    const CELLS: u64 = 4096;
    let mut measured: Vec<[[Measured; 2]; 2]> = Vec::new();
    for load in LOADS {
        let items = (load * CELLS as f64).round() as u64;
        let of = |moves_on_deletions: bool| {
            let trials = context.each(context.effort(12, 200), |seed| {
                Table::new(CELLS, items, moves_on_deletions, seed).churned(context.effort(20, 100))
            });
            [0, 1].map(|at| Measured::mean(&trials.iter().map(|trial| trial[at]).collect::<Vec<_>>()))
        };
        measured.push([of(false), of(true)]);
    }
    let by_load = |policy: usize, quantity: usize| {
        LOADS.into_iter().zip(measured.iter().map(move |row| row[policy][quantity]))
    };
    let fewer = |row: usize, quantity: usize| {
        let [none, with] = &measured[row];
        format!(
            "{:.2} to {:.2} ({:.0}% fewer)",
            none[quantity].value,
            with[quantity].value,
            100.0 * (1.0 - with[quantity].value / none[quantity].value)
        )
    };
    let (low, high) = (0, LOADS.len() - 1);
    let text = format!(
        "Somewhat. With four choices, one move a deletion (the item that last found the cell taken comes back to it) changes the cells that a successful search looks at \
         from {} at a load of {}, and from {} at {}; and the moves of an insertion from {} and from {}.",
        fewer(low, 1),
        LOADS[low],
        fewer(high, 1),
        LOADS[high],
        fewer(low, 0),
        fewer(high, 0),
    );
    let picture = Picture {
        id: "open-cuckoo".to_owned(),
        title: "Four-choice cuckoo hashing under churn, with and without moves on deletions".to_owned(),
        across: Axis::linear("load: items over cells"),
        up: Axis::log("a search's cells; an insertion's moves"),
        series: vec![
            Series::measured("cells of a search, no moves on deletions", by_load(0, 1)),
            Series::measured("cells of a search, one move", by_load(1, 1)),
            Series::measured("moves of an insertion, no moves on deletions", by_load(0, 0)),
            Series::measured("moves of an insertion, one move", by_load(1, 0)),
        ],
        caption: "Items that come back to an earlier choice are found sooner, if there is room to come back to. Near full, searches gain little, and insertions a \
                  part of their moves.".to_owned(),
    };
    Ok(Answer { text, picture })
}
