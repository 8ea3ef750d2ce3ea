//! Rows of figures, judged by their targets and written as Markdown or JSON.

use std::fmt::{self, Write as _};

use serde::{Serialize, Serializer};

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Ratio,
    Millis,
    Micros,
    PerSecond,
    Megabytes,
    Kilobytes,
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) unit: Unit,
}

/// The target for a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
}

/// The outcome of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Ok,
    Miss,
    /// A figure without a target.
    NoTarget,
    NotMeasured,
    /// A program that it needs is not installed.
    Skipped,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    name: String,
    outcome: Result<Figure, Nothing>,
    target: Option<Target>,
    facts: Vec<(String, Figure)>,
}

/// Why there is no figure.
#[derive(Clone, Debug)]
struct Nothing {
    why: String,
    verdict: Verdict,
}

impl Row {
    /// A row with a figure.
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: Unit) -> Self {
        let outcome = Ok(Figure { value, unit });
        Self { name: name.into(), outcome, target: None, facts: Vec::new() }
    }

    /// A row that could not be measured, and why.
    pub(crate) fn not_measured(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self::nothing(name.into(), why.into(), Verdict::NotMeasured)
    }

    /// A row that needs what is not installed, and how to install it.
    pub(crate) fn skipped(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self::nothing(name.into(), why.into(), Verdict::Skipped)
    }

    fn nothing(name: String, why: String, verdict: Verdict) -> Self {
        Self { name, outcome: Err(Nothing { why, verdict }), target: None, facts: Vec::new() }
    }

    /// Sets the bound.
    pub(crate) fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Adds a number that the figure is based on.
    pub(crate) fn fact(mut self, name: impl Into<String>, value: f64, unit: Unit) -> Self {
        self.facts.push((name.into(), Figure { value, unit }));
        self
    }

    /// Whether the figure meets its target.
    pub(crate) fn verdict(&self) -> Verdict {
        let value = match &self.outcome {
            Ok(figure) => &figure.value,
            Err(nothing) => return nothing.verdict,
        };
        let met = match self.target {
            None => return Verdict::NoTarget,
            Some(Target::AtLeast(bound)) => *value >= bound,
            Some(Target::AtMost(bound)) => *value <= bound,
            Some(Target::Below(bound)) => *value < bound,
        };
        if met { Verdict::Ok } else { Verdict::Miss }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fact<'a> {
            name: &'a str,
            #[serde(flatten)]
            figure: Figure,
        }
        #[derive(Serialize)]
        struct SerializedRow<'a> {
            row: &'a str,
            #[serde(flatten)]
            figure: Option<&'a Figure>,
            #[serde(skip_serializing_if = "Option::is_none")]
            why: Option<&'a String>,
            target: Option<Target>,
            verdict: Verdict,
            facts: Vec<Fact<'a>>,
        }
        SerializedRow {
            row: &self.name,
            figure: self.outcome.as_ref().ok(),
            why: self.outcome.as_ref().err().map(|nothing| &nothing.why),
            target: self.target,
            verdict: self.verdict(),
            facts: self.facts.iter().map(|(name, figure)| Fact { name, figure: *figure }).collect(),
        }
        .serialize(serializer)
    }
}

/// The rows as a Markdown table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = "| row | figure | target | | measured |\n|---|--:|--:|---|---|\n".to_owned();
    for row in rows {
        let (figure, measured) = match &row.outcome {
            Ok(figure) => (figure.to_string(), facts(&row.facts)),
            Err(nothing) => ("–".to_owned(), cell(&nothing.why)),
        };
        let unit = row.outcome.as_ref().map_or(Unit::Ratio, |figure| figure.unit);
        let target = row.target.map_or_else(|| "–".to_owned(), |target| target.shown(unit));
        let verdict = match row.verdict() {
            Verdict::Ok => "ok",
            Verdict::Miss => "**miss**",
            Verdict::NoTarget => "",
            Verdict::NotMeasured => "not measured",
            Verdict::Skipped => "skipped",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {figure} | {target} | {verdict} | {measured} |",
            cell(&row.name)
        );
    }
    text
}

fn facts(facts: &[(String, Figure)]) -> String {
    let written: Vec<_> = facts.iter().map(|(name, figure)| format!("{name} {figure}")).collect();
    cell(&written.join(" · "))
}

/// Escapes text for a cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

impl Target {
    fn shown(self, unit: Unit) -> String {
        let (sign, value) = match self {
            Target::AtLeast(value) => ("≥", value),
            Target::AtMost(value) => ("≤", value),
            Target::Below(value) => ("<", value),
        };
        format!("{sign} {}", Figure { value, unit })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = number(self.value);
        match self.unit {
            Unit::Ratio => write!(f, "{number}×"),
            Unit::Millis => write!(f, "{number} ms"),
            Unit::Micros => write!(f, "{number} µs"),
            Unit::PerSecond => write!(f, "{number}/s"),
            Unit::Megabytes => write!(f, "{number} MB"),
            Unit::Kilobytes => write!(f, "{number} kB"),
        }
    }
}

/// Three significant digits, with thousands separators.
fn number(value: f64) -> String {
    let size = value.abs();
    if size < 1.0 {
        return format!("{value:.3}");
    }
    if size < 10.0 {
        return format!("{value:.2}");
    }
    if size < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{size:.0}");
    let sign = if value < 0.0 { "-" } else { "" };
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

#[cfg(test)]
mod tests;
