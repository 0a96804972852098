//! Claims as a table for other programs.

use super::Claim;
use crate::picture::csv_cell;

/// One line per claim.
pub(super) fn claims(claims: &[Claim]) -> String {
    let mut text = "paper,id,verdict,printed,calculated,measured,standard error,claim,note\n".to_owned();
    for claim in claims {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let cells = [
            claim.paper.name().to_owned(),
            csv_cell(&claim.id),
            claim.verdict.name().to_owned(),
            csv_cell(&claim.printed),
            number(claim.calculated),
            number(claim.measured),
            number(claim.standard_error),
            csv_cell(&claim.claim),
            csv_cell(&claim.note),
        ];
        text += &cells.join(",");
        text.push('\n');
    }
    text
}
