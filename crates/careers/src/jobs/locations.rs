//! Places in the sentences of a job.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

static OFFICE: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"\p{Lu}[\p{L}'’.]+(?:[ -](?:\p{Lu}[\p{L}'’.]+|am|an|der|de|del|la|le|les|sur|upon|of)){0,3}";
    let kind = r"(?:distribution\s+)?cent(?:er|re)|warehouse|plant|store|clinic|hospital|campus|facility|office|site|headquarters|hub|studio|branch|agence|bureaux?|usine|magasin|siège|oficinas?|sede|planta|tienda|centro|Büro|Standort|Werk|Filiale|Niederlassung";
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(&format!(
        r"\b(?:its|their|[Oo]ur|unser(?:e[mnrs]?)?|seine[mnrs]?|ihre[mnrs]?|[Nn]otre|[Nn]os|ses|son|sa|[Nn]uestr[ao]s?|sus?)\s+(?:(?P<p>{name})\s+(?:{kind})\b|(?:{kind})\s+(?:in\s+|of\s+|de\s+|d['’]|à\s+|en\s+)?(?P<q>{name}))"
    ))
    .expect("a pattern that compiles")
});

/// The place of an office: "its Leeds office", "notre agence de Lyon".
pub(super) fn of_office(text: &str) -> Option<String> {
    let found = OFFICE.captures(text)?;
    let place = found.name("p").or_else(|| found.name("q"))?;
    Some(place.as_str().trim_end_matches(['.', ',']).to_owned())
}

/// Words followed by "in" and a field such as "experience in marketing": the field is no place.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)\b(experienced?|knowledge|skills|skilled|expertise|background|degree|interest|fluent|proficient|proficiency|kenntnisse|erfahrung|expérience|compétences|conocimientos|experiencia)\s+(?:in|en)\s")
        .expect("a pattern that compiles")
});

/// A text without the "in" before a field of work: "experience in Child protection".
pub(super) fn without_fields(text: &str) -> Cow<'_, str> {
    FIELD.replace_all(text, "$1, ")
}

#[cfg(test)]
mod tests {
    use super::{of_office, without_fields};

    #[test]
    fn a_place_of_an_office_is_read() {
        for (text, place) in [
            ("for its Bristol office (hybrid)", Some("Bristol")),
            ("pour notre agence de Saint-Malo.", Some("Saint-Malo")),
            ("para nuestra oficina en La Rioja", Some("La Rioja")),
            ("für unser Werk in Graz", Some("Graz")),
            ("our office hours are long", None),
        ] {
            assert_eq!(of_office(text).as_deref(), place, "{text}");
        }
    }

    #[test]
    fn a_field_of_work_is_no_place() {
        assert_eq!(
            without_fields("experience in Child protection"),
            "experience, Child protection"
        );
        assert_eq!(without_fields("an office in York"), "an office in York");
    }
}
