use oneread::layout::MultilevelLayout;
use oneread::plan::multilevel::MultilevelPlan;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layout = MultilevelLayout::new([40_000, 10_000])?.with_slots(2)?;
    let plan = MultilevelPlan::new(&layout, 10_000)?;
    println!("{:?} {}", plan.expected(), plan.crisis_probability());
    Ok(())
}
