//! Names of companies.

/// The name of a company without its place, articles and what follows; pronouns are none.
pub(super) fn clean_company(value: &str) -> Option<String> {
    let value = value.split(['(', '|']).next().unwrap_or("").trim().trim_end_matches(['.', ',']);
    let last = value.rsplit(", ").next().unwrap_or(value);
    let value = if last.len() < value.len()
        && ["Inc", "Ltd", "LLC", "GmbH", "S.A", "S.L", "SA", "SL", "AG", "KG", "SE", "Co"]
            .iter()
            .all(|form| !last.starts_with(form))
    {
        value.split(", ").next().unwrap_or(value)
    } else {
        value
    };
    let articles = ["The team at ", "At ", "Die ", "Der ", "Das "];
    let value = articles.iter().fold(value, |value, word| value.trim_start_matches(word)).trim();
    // "St. Hedwig's Hospice in Bristol"
    let value = match value.split_once(" in ") {
        Some((name, place)) if place.starts_with(char::is_uppercase) => name,
        _ => value,
    };
    let lower = value.to_lowercase();
    let pronoun = [
        "we",
        "they",
        "i",
        "you",
        "wir",
        "nous",
        "it",
        "he",
        "she",
        "who",
        "our client",
        "our team",
        "on",
        "estamos",
        "company",
    ];
    let capital = value.starts_with(|first: char| first.is_uppercase() || first.is_numeric());
    let capital = capital
        && !value.strip_prefix("The ").is_some_and(|rest| rest.starts_with(char::is_lowercase));
    (capital && value.split_whitespace().count() <= 6 && !pronoun.contains(&lower.as_str()))
        .then(|| value.to_owned())
}
