use oneread::layout::MultilevelLayout;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::{self, table::{Odds, Targets}};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "solve" => {
            let items: u64 = args[2].parse().unwrap();
            let slots: u32 = args[3].parse().unwrap();
            let levels: u32 = args[4].parse().unwrap();
            let odds: f64 = args[6].parse().unwrap();
            let odds = match args[5].as_str() { "crisis" => Odds::Crisis(odds), "filled" => Odds::Filled(odds), _ => Odds::Churn(odds) };
            let t = Instant::now();
            let s = solve::table(&Targets { items, levels, slots, buckets: None, odds });
            let e = t.elapsed();
            match s {
                Ok(s) => println!("{items} items {slots} slots {levels} levels {odds:?}: {:.3} s; {} buckets {:?} crisis {:?} stash {:e} acc {:?}", e.as_secs_f64(), s.best.layout.buckets(), s.best.layout.levels(), s.best.filled.as_ref().map(|p| p.ln_crisis_probability()), s.best.expected_stash, s.best.filled.as_ref().map(|p| p.accuracy())),
                Err(e2) => println!("{items} {slots} {odds:?}: {:.3} s {e2}", e.as_secs_f64()),
            }
        }
        _ => {
            let items: u64 = args[2].parse().unwrap();
            let slots: u32 = args[3].parse().unwrap();
            let sizes: Vec<u64> = args[4].split(',').map(|s| s.parse().unwrap()).collect();
            let layout = MultilevelLayout::new(sizes).unwrap().with_slots(slots).unwrap();
            let t = Instant::now();
            let p = MultilevelPlan::new(&layout, items).unwrap();
            let e = t.elapsed();
            println!("{:.4} s ln_crisis {:.15} stash {:.15e} {:?} expected {:?}", e.as_secs_f64(), p.ln_crisis_probability(), p.expected_stash(), p.accuracy(), p.expected());
        }
    }
}
