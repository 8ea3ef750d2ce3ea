//! Checks of inputs that the schema also states: the functions can be called without it.

use proto::{Code, Failure};
use search::links::parse_domain;

/// The range of `num_results`.
const RESULTS: std::ops::RangeInclusive<u32> = 1..=10;
/// The range of years.
const YEARS: std::ops::RangeInclusive<u16> = 1900..=2030;
/// The most characters of a query.
const MAX_QUERY: usize = 500;

/// The input is wrong; the message names the field as a JSON pointer.
pub(crate) fn invalid(field: &str, why: impl std::fmt::Display) -> Failure {
    Failure::new(Code::InvalidInput, format!("/{field}: {why}"))
}

/// Checks a query, and returns it without white space around it.
pub(crate) fn check_query(query: &str) -> Result<&str, Failure> {
    let trimmed = query.trim();
    if trimmed.is_empty() {
        return Err(invalid("query", "must not be empty"));
    }
    let length = query.chars().count();
    if length > MAX_QUERY {
        return Err(invalid(
            "query",
            format!("has {length} characters; at most {MAX_QUERY} are allowed"),
        ));
    }
    Ok(trimmed)
}

/// Checks `num_results`.
pub(crate) fn check_count(count: u32) -> Result<usize, Failure> {
    if RESULTS.contains(&count) {
        return Ok(count as usize);
    }
    Err(invalid("num_results", format!("is {count}; it must be from 1 to 10")))
}

/// Checks a number from 1 to `most`.
pub(crate) fn check_range(field: &str, count: u32, most: u32) -> Result<usize, Failure> {
    if (1..=most).contains(&count) {
        return Ok(count as usize);
    }
    Err(invalid(field, format!("is {count}; it must be from 1 to {most}")))
}

/// Checks a range of years.
pub(crate) fn check_years(from: Option<u16>, to: Option<u16>) -> Result<(), Failure> {
    for (name, year) in [("year_from", from), ("year_to", to)] {
        if let Some(year) = year.filter(|year| !YEARS.contains(year)) {
            return Err(invalid(name, format!("is {year}; it must be from 1900 to 2030")));
        }
    }
    match (from, to) {
        (Some(from), Some(to)) if from > to => {
            Err(invalid("year_from", format!("is {from}, which is after year_to, {to}")))
        }
        _ => Ok(()),
    }
}

/// Reads a domain.
pub(crate) fn check_domain(field: &str, domain: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(text) = domain else { return Ok(None) };
    match parse_domain(text) {
        Some(domain) => Ok(Some(domain)),
        None => Err(invalid(
            field,
            format!("`{}` is not a domain such as example.com", search::text::clip(text, 100)),
        )),
    }
}

/// Checks a two-letter code.
pub(crate) fn check_code(
    field: &str,
    code: Option<&str>,
    example: &str,
) -> Result<Option<String>, Failure> {
    let Some(code) = code else { return Ok(None) };
    if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Ok(Some(code.to_ascii_lowercase()));
    }
    Err(invalid(field, format!("must be a two-letter code such as {example}")))
}
