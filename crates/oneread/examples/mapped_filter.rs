//! A filter in a file, queried without loading it.
//!
//! Run it with `cargo run --release -p oneread --example mapped_filter`. It plans a filter, fills
//! it, saves it to a temporary file, and answers queries from the file's bytes in place. (A
//! long-running program would map the file, for example with the crate `memmap2`; the view takes
//! any `&[u8]`.)

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use oneread::filter::{BlockedBloomFilter, BlockedView};
use oneread::plan;

const KEYS: u64 = 1_000_000;
const RATE: f64 = 0.001;

fn main() -> Result<(), Box<dyn Error>> {
    let layout = plan::blocked::for_rate(KEYS, RATE)?;
    let planned = plan::blocked::false_positive_probability(layout, KEYS);
    println!("planned: {:.2} bits per key, {planned:.6} false positives", layout.bits() as f64 / KEYS as f64);

    let mut filter = BlockedBloomFilter::with_seed(layout, 1)?;
    let keys: Vec<u64> = (0..KEYS).collect();
    filter.insert_many(&keys);

    let path = std::env::temp_dir().join(format!("oneread-example-{}.filter", std::process::id()));
    filter.save(BufWriter::new(File::create(&path)?))?;

    let bytes = std::fs::read(&path)?;
    let view: BlockedView<'_> = BlockedView::open(&bytes)?;
    view.verify()?;
    assert!((0..KEYS).all(|key| view.contains(&key)), "a filter never forgets");
    let absent = KEYS..11 * KEYS;
    let found = absent.clone().filter(|key| view.contains(key)).count();
    println!("measured: {:.6} false positives over {} absent keys", found as f64 / 1e7, absent.count());
    std::fs::remove_file(&path)?;
    Ok(())
}
