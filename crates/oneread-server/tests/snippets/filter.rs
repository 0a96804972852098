use oneread::filter::BloomFilter;
use oneread::hash::probes::SchemeName;
use oneread::layout::BloomLayout;
use oneread::plan::bloom;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layout = BloomLayout::new(9625, 7)?.with_scheme("double".parse::<SchemeName>()?)?;
    println!("{}", bloom::false_positive_probability(layout, 1000));
    let mut filter = BloomFilter::new(layout)?;
    filter.insert("a key");
    assert!(filter.contains("a key"));
    Ok(())
}
