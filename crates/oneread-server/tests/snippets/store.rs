use oneread_store::plan::{StoreTargets, solve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let targets = StoreTargets {
        items: 1_000_000,
        key_bytes: 16,
        value_bytes: 100,
        reads_per_miss: 0.01468653849432186,
        ram_bytes: Some(1_048_576),
    };
    let planned = solve(&targets)?.best;
    println!("{} bytes of memory, {} on disk", planned.ram_bytes, planned.disk_bytes);
    Ok(())
}
