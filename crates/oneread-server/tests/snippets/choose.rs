use oneread::plan::solve::{self, FilterTargets, Needs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let needs = Needs { delete: true, ..Needs::default() };
    let rate = 0.001;
    let targets = FilterTargets { items: 1_000_000, rate, needs, bytes: Some(100_000_000) };
    let planned = solve::filter(&targets)?.best;
    println!("{}: {} bits per key", planned.structure, planned.bits_per_key());
    Ok(())
}
