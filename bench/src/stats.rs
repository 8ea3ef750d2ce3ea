//! Medians and percentiles.

/// The smallest value that at least `percent` of all values do not exceed; zero for no values.
pub(crate) fn percentile(values: &mut [f64], percent: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (percent / 100.0 * values.len() as f64).ceil() as usize;
    values.get(rank.clamp(1, values.len().max(1)) - 1).copied().unwrap_or_default()
}

/// The value in the middle, or halfway between the two there; zero for no values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values {
        [] => 0.0,
        _ if values.len() % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests;
