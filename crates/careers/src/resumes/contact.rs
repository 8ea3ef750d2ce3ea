//! Name, mail, phone, place and links.

use std::sync::LazyLock;

use regex::Regex;

use super::dates;
use super::lines::{Line, SectionKind};
use super::profile::Contact;
use crate::jobs::header::names_role;

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

static MAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}")
});
static PHONE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:\+|\b00|\(|\b)\d[\d\s().\-/–]{6,}\d\b"));
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:https?://\S+|(?:www\.|linkedin\.com/|github\.com/|gitlab\.com/|xing\.com/|twitter\.com/)\S+)",
    )
});
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:e-?mail|mail|phone|tel(?:ephone|efon|éfono|éphone)?|mobile?|mobil|handy|móvil|cell|location|address|adresse|anschrift|wohnort|ort|lieu|ville|ubicación|dirección|domicilio|residence|based in|city|ciudad|name|nom|nombre|linkedin|github|web(?:site)?)\.?\s*:\s*|^[📍📞📧✉☎🏠]\u{fe0f}?\s*",
    )
});
static PLACE_LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:location|address|adresse|anschrift|wohnort|ort|lieu|ville|ubicación|dirección|domicilio|residence|based in|city|ciudad)\.?\s*:|^[📍🏠]",
    )
});
static NAME_LABEL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:full\s+name|name|nom|nombre|vor- und nachname)\s*:\s*"));
static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:curriculum\s+vitae|cv|résumé|resume|lebenslauf|bewerbung)\b(?:\s*(?:of|von|de|[-–—:|]))?\s*",
    )
});

/// Reads the contact data.
pub(crate) fn read(lines: &[Line]) -> Contact {
    let zone = zone(lines);
    let all = || zone.iter().copied().chain(lines);
    let email = all().find_map(|line| MAIL.find(&line.text)).map(|found| found.as_str().to_owned());
    let name = name(lines, email.as_deref());
    let location = location(&zone, name.as_deref());
    let phone = all().find_map(|line| phone(&line.text, location.as_deref()));
    let mut links: Vec<String> = all()
        .flat_map(|line| LINK.find_iter(&line.text))
        .map(|link| link.as_str().trim_end_matches([',', '.', ')', '|', ';']).to_owned())
        .collect();
    links.sort();
    links.dedup();
    Contact { name, email, phone, location, links }
}

/// The lines that may hold contact data: those of its section, and those before the first section.
fn zone(lines: &[Line]) -> Vec<&Line> {
    let own =
        lines.iter().filter(|line| line.section == Some(SectionKind::Contact) && !line.heading);
    let top = lines.iter().take(12).take_while(|line| {
        line.section.is_none() && !line.bullet && dates::period(&line.text).is_none()
    });
    let mut zone: Vec<&Line> = own.chain(top).collect();
    // Without headings the lines around the mail are all there is.
    if let Some(at) = lines.iter().position(|line| MAIL.is_match(&line.text)) {
        let near = lines.iter().skip(at.saturating_sub(3)).take(7);
        let own = |line: &&Line| {
            matches!(line.section, None | Some(SectionKind::Contact | SectionKind::Summary))
        };
        zone.extend(
            near.filter(own).filter(|line| {
                !line.bullet && !line.heading && dates::period(&line.text).is_none()
            }),
        );
    }
    zone
}

/// Whether a line names the person or how to reach them.
pub(super) fn is_contact(line: &Line, contact: &Contact) -> bool {
    let named = contact.name.as_deref().is_some_and(|name| line.text.contains(name));
    let linked = MAIL.is_match(&line.text)
        || contact.links.iter().any(|link| line.text.contains(link.as_str()));
    line.section == Some(SectionKind::Contact) || named || linked
}

fn name(lines: &[Line], email: Option<&str>) -> Option<String> {
    if let Some(named) = lines.iter().find(|line| NAME_LABEL.is_match(&line.text)) {
        return Some(NAME_LABEL.replace(&named.text, "").trim().to_owned());
    }
    let local: String =
        email.and_then(|mail| mail.split('@').next()).map(dates::fold).unwrap_or_default();
    let mut best: Option<(usize, String)> = None;
    for (at, line) in lines.iter().enumerate().take(80) {
        let text = DOCUMENT.replace(&line.text, "");
        for part in text.split(['|', '·', '•', ',']).map(str::trim) {
            if line.bullet || line.heading || !is_name(part) {
                continue;
            }
            let words = part.split_whitespace().filter(|word| word.len() > 2);
            let mailed = words
                .filter(|word| local.contains(&dates::fold(&word.replace(['\'', '’', '-'], ""))))
                .count();
            let first = usize::from(at == 0) * 2 + usize::from(at < 4);
            let score =
                mailed * 3 + usize::from(line.marked) * 2 + first + usize::from(!names_role(part));
            if score >= 3 && best.as_ref().is_none_or(|(before, _)| score > *before) {
                best = Some((score, part.to_owned()));
            }
        }
    }
    best.map(|(_, name)| name)
}

fn is_name(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let particle = [
        "von", "van", "de", "der", "den", "del", "la", "da", "di", "zu", "el", "al", "bin", "ter",
        "y", "dos",
    ];
    let word = |word: &&str| {
        let plain =
            word.chars().all(|sign| sign.is_alphabetic() || matches!(sign, '\'' | '’' | '-' | '.'));
        plain && (word.starts_with(char::is_uppercase) || particle.contains(word))
    };
    (2..=5).contains(&words.len()) && words.iter().all(word)
}

fn location(zone: &[&Line], name: Option<&str>) -> Option<String> {
    let labelled = zone.iter().find(|line| PLACE_LABEL.is_match(&line.text));
    if let Some(line) = labelled {
        let value = LABEL.replace(&line.text, "");
        return place(value.split(['|', '·', '•']).next().unwrap_or(""));
    }
    let mut candidates: Vec<(usize, String)> = Vec::new();
    for (index, line) in zone.iter().enumerate() {
        // The name of the person is the first line, or marked.
        if line.marked || line.bullet && !line.after_blank && line.text.len() > 40 {
            continue;
        }
        let text = line.text.replace(" — ", " | ").replace(" – ", " | ");
        for part in text
            .split(['|', '·', '•', ';', '\t'])
            .map(|part| LABEL.replace(part.trim(), "").trim().to_owned())
        {
            let contact = MAIL.is_match(&part) || LINK.is_match(&part) || part.contains('@');
            if Some(part.as_str()) == name || contact || PHONE.is_match(&part) || names_role(&part)
            {
                continue;
            }
            if let Some(place) = place(&part) {
                let region = place.contains(", ");
                // Two capitals alone look like a name, which comes first.
                let name = index == 0 && !region && is_name(&place);
                let near = zone.iter().any(|line| MAIL.is_match(&line.text));
                candidates.push((
                    usize::from(region) * 2 + usize::from(!name) + usize::from(near && index > 0),
                    place,
                ));
            }
        }
    }
    let best = candidates.iter().map(|(score, _)| *score).max()?;
    candidates.into_iter().find(|(score, _)| *score == best && best > 0).map(|(_, place)| place)
}

/// A place without street and postal code.
fn place(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',']);
    let parts = text.split(", ").map(|part| {
        part.trim_matches(|sign: char| sign.is_ascii_digit() || sign == ' ' || sign == '-')
    });
    let parts: Vec<&str> = parts
        .zip(text.split(", "))
        .filter(|(_, whole)| !is_street(whole))
        .map(|(part, _)| part)
        .filter(|part| !part.is_empty())
        .collect();
    let named = |part: &&str| {
        part.split_whitespace().count() <= 3
            && part.starts_with(char::is_uppercase)
            && part.chars().all(|sign| {
                sign.is_alphabetic() || matches!(sign, ' ' | '-' | '\'' | '.' | '’' | '(' | ')')
            })
    };
    ((1..=3).contains(&parts.len()) && parts.iter().all(named)).then(|| parts.join(", "))
}

/// Whether a part of an address has a house number: digits after a word.
fn is_street(part: &str) -> bool {
    let ends =
        part.ends_with(|sign: char| sign.is_ascii_digit()) && part.contains(char::is_alphabetic);
    ends || part.to_lowercase().contains("street") || part.to_lowercase().contains(" road")
}

/// A phone number as `+` and digits.
fn phone(text: &str, location: Option<&str>) -> Option<String> {
    if dates::period(text).is_some() {
        return None;
    }
    let found = PHONE.find_iter(text).map(|found| found.as_str().replace("(0)", ""));
    found
        .filter_map(|found| {
            let digits: String = found.chars().filter(char::is_ascii_digit).collect();
            let international = found.starts_with('+');
            match digits.len() {
                8..=15 if international => Some(format!("+{digits}")),
                10..=16 if digits.starts_with("00") => Some(format!("+{}", &digits[2..])),
                9..=12 if digits.starts_with('0') => {
                    Some(format!("+{}{}", country_code(location?)?, &digits[1..]))
                }
                10 => Some(format!("+1{digits}")),
                11 if digits.starts_with('1') => Some(format!("+{digits}")),
                _ => None,
            }
        })
        .next()
}

/// The calling code of a place that names its country.
fn country_code(location: &str) -> Option<&'static str> {
    let country = location.rsplit(", ").next()?.to_lowercase();
    Some(match country.as_str() {
        "uk" | "united kingdom" | "england" | "scotland" | "wales" | "london" => "44",
        "germany" | "deutschland" | "berlin" | "hamburg" | "munich" | "münchen" | "köln" => "49",
        "france" | "paris" | "lyon" => "33",
        "spain" | "españa" | "madrid" | "barcelona" => "34",
        "switzerland" | "schweiz" | "suisse" | "zürich" | "zurich" => "41",
        "austria" | "österreich" | "wien" | "vienna" => "43",
        "netherlands" | "amsterdam" | "rotterdam" => "31",
        "italy" | "italia" => "39",
        "belgium" | "belgique" => "32",
        "ireland" | "dublin" => "353",
        _ => return None,
    })
}
