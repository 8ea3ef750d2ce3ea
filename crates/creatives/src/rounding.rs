//! Numbers for answers.

/// A number with so many decimal places.
pub fn rounded(value: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    // Adding zero makes -0 a plain 0.
    (value * factor).round() / factor + 0.0
}
