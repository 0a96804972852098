use oneread::plan::solve::{self, FilterTargets, Needs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let needs = Needs::default();
    let rate = solve::lowest_rate(100_000, needs, 102_400)?;
    let targets = FilterTargets { items: 100_000, rate, needs, bytes: Some(102_400) };
    let planned = solve::filter(&targets)?.best;
    println!("{}: {} bits per key", planned.structure, planned.bits_per_key());
    Ok(())
}
