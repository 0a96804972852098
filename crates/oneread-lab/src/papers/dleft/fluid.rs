//! The limit of d-left tables, by another method than `oneread::plan::dleft`: it computes the tails
//! of the loads instead of the fractions, for equal sub-tables and ties to the left, with the
//! classical Runge–Kutta method and equal steps.

/// The fraction of each sub-table's buckets with each load, from 0 to the highest.
pub(super) fn loads(subtables: usize, load: f64, highest: usize) -> Vec<Vec<f64>> {
    const STEPS: u32 = 4000;
    let step = load / f64::from(STEPS);
    // u_{i,j} at i·(highest + 1) + j − 1: the fraction of sub-table i with load at least j, for j ≥
    // 1.
    let width = highest + 1;
    let mut tails = vec![0.0; subtables * width];
    for _ in 0..STEPS {
        let k1 = rates(&tails, width);
        let k2 = rates(&moved(&tails, &k1, step / 2.0), width);
        let k3 = rates(&moved(&tails, &k2, step / 2.0), width);
        let k4 = rates(&moved(&tails, &k3, step), width);
        for (i, tail) in tails.iter_mut().enumerate() {
            *tail += step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    let fractions = |tails: &[f64]| (0..=highest).map(|j| tail(tails, j) - tail(tails, j + 1)).collect();
    tails.chunks_exact(width).map(fractions).collect()
}

/// The fraction of one sub-table with load at least j; 1 for j = 0.
fn tail(tails: &[f64], j: usize) -> f64 {
    if j == 0 { 1.0 } else { tails[j - 1] }
}

/// An item raises a bucket of sub-table i to load j if the bucket has load j − 1, the choices to
/// its left have at least j, and those to its right at least j − 1.
fn rates(tails: &[f64], width: usize) -> Vec<f64> {
    let subtables: Vec<&[f64]> = tails.chunks_exact(width).collect();
    let mut rates = Vec::with_capacity(tails.len());
    for (i, own) in subtables.iter().enumerate() {
        for j in 1..=width {
            let left: f64 = subtables[..i].iter().map(|other| tail(other, j)).product();
            let right: f64 = subtables[i + 1..].iter().map(|other| tail(other, j - 1)).product();
            rates.push(subtables.len() as f64 * (tail(own, j - 1) - tail(own, j)) * left * right);
        }
    }
    rates
}

fn moved(state: &[f64], rates: &[f64], time: f64) -> Vec<f64> {
    state.iter().zip(rates).map(|(value, rate)| value + time * rate).collect()
}
