//! Name, mail, phone, place and links.

use std::sync::LazyLock;

use regex::Regex;

use super::labels::{self, Cell, Field};
use super::lines::Line;
use super::names::{is_company, is_institution};
use super::places::{self, calling_code, place};
use super::profile::Contact;
use super::section_kind::SectionKind;
use super::{dates, headings, roles};

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
        r#"(?i)\b(?:https?://[^\s<>()\[\]"|]+|(?:www\.|(?:[a-z]{2}\.)?linkedin\.com/|github\.com/|gitlab\.com/|bitbucket\.org/|xing\.com/|twitter\.com/|x\.com/|behance\.net/|dribbble\.com/|medium\.com/|stackoverflow\.com/|kaggle\.com/|instagram\.com/|facebook\.com/|orcid\.org/)[^\s<>()\[\]"|]+|[a-z0-9-]+\.github\.io\b[^\s<>()\[\]"|]*)"#,
    )
});
/// An address without scheme and path, which only contact data has.
static SITE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:[\p{L}\p{N}-]+\.)+(?:com|net|org|io|dev|me|co|app|info|biz|eu|tech|design|studio|page|site|online|blog|ai|xyz|cloud|example|de|fr|es|it|pt|nl|be|ch|at|uk|ie|se|no|dk|fi|pl|cz|br|mx|ca|us|au|nz|in|jp)(?:/\S*)?$",
    )
});
static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:curriculum\s+vit(?:ae|æ)|curr[íi]culo(?:\s+vitae)?|curriculum|cv|résumé|resume|resumé|lebenslauf|tabellarischer\s+lebenslauf|bewerbung|bio-?data)\b(?:\s*(?:of|von|de|di|[-–—:|]))?\s*",
    )
});

/// The last line of a document that may hold the name.
const NAME_LINES: usize = 80;

/// Reads the contact data.
pub(crate) fn read(lines: &[Line]) -> Contact {
    let zone = zone(lines);
    let cells = labels::cells(&zone);
    let all = || zone.iter().copied().chain(lines);
    let email = all().find_map(|line| MAIL.find(&line.text)).map(|found| found.as_str().to_owned());
    let name = labelled_name(&cells).or_else(|| Some(find_name(lines)?.text));
    let location = location(&zone, &cells, name.as_deref());
    let code = calling_code(location.as_deref(), email.as_deref());
    let labelled = cells.iter().filter(|cell| cell.field == Some(Field::Phone));
    let phone = labelled
        .chain(cells.iter().filter(|cell| cell.field.is_none()))
        .find_map(|cell| phone(&cell.text, code))
        .or_else(|| all().find_map(|line| phone(&line.text, None)));
    Contact { name, email, phone, location, links: links(all(), &cells) }
}

fn links<'a>(lines: impl Iterator<Item = &'a Line>, cells: &[Cell]) -> Vec<String> {
    let tidy = |link: &str| link.trim_end_matches([',', '.', ')', '|', ';', ']']).to_owned();
    let mut links: Vec<String> =
        lines.flat_map(|line| LINK.find_iter(&line.text)).map(|link| tidy(link.as_str())).collect();
    let sites = cells.iter().filter(|cell| matches!(cell.field, None | Some(Field::Link)));
    let is_site = |text: &str| SITE.is_match(text) && !text.to_lowercase().starts_with("asp.net");
    links.extend(sites.filter(|cell| is_site(&cell.text)).map(|cell| tidy(&cell.text)));
    links.sort();
    links.dedup();
    // The same address with and without its scheme.
    let bare = |link: &str| {
        let link = link.trim_start_matches("https://").trim_start_matches("http://");
        link.trim_start_matches("www.").trim_end_matches('/').to_lowercase()
    };
    let mut kept: Vec<String> = Vec::new();
    for link in links {
        match kept.iter_mut().find(|other| bare(other) == bare(&link)) {
            Some(other) if link.len() > other.len() => *other = link,
            Some(_) => {}
            None => kept.push(link),
        }
    }
    kept.sort();
    kept
}

/// The lines that may hold contact data: those of its section, and those before the first section.
fn zone(lines: &[Line]) -> Vec<&Line> {
    let own =
        lines.iter().filter(|line| line.section == Some(SectionKind::Contact) && !line.heading);
    let top = lines.iter().take(16).take_while(|line| {
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
    let mut seen = std::collections::HashSet::new();
    zone.retain(|line| seen.insert(line.start));
    zone
}

/// Puts a block of contact data that is in another section into its own: the name in or below a side bar.
pub(super) fn claim(lines: &mut [Line]) {
    let Some(found) = find_name(lines) else { return };
    let line = &lines[found.line];
    let inside = !matches!(line.section, None | Some(SectionKind::Contact));
    // The name is alone, or a title is next to it.
    let alone = line.text.len() <= found.text.len() + 40 && line.text.starts_with(&found.text);
    if !inside || !alone || !found.certain {
        return;
    }
    let block = lines.iter().skip(found.line + 1).take(8).take_while(|line| {
        !line.heading
            && !line.bullet
            && !line.after_blank
            && line.text.split_whitespace().count() <= 10
            && dates::period(&line.text).is_none()
    });
    let end = found.line + 1 + block.count();
    // Mail and phone may be below a blank line.
    let near = lines.iter().enumerate().skip(end).take(4).take_while(|(_, line)| !line.heading);
    let end = near
        .filter(|(_, line)| is_reachable(&line.text))
        .map(|(at, _)| at + 1)
        .last()
        .unwrap_or(end);
    for line in &mut lines[found.line..end] {
        line.section = Some(SectionKind::Contact);
    }
}

/// Whether a text has an address to reach a person.
pub(super) fn is_reachable(text: &str) -> bool {
    MAIL.is_match(text) || LINK.is_match(text) || phone(text, None).is_some()
}

/// Whether a line names the person or how to reach them.
pub(super) fn is_contact(line: &Line, contact: &Contact) -> bool {
    let named = contact.name.as_deref().is_some_and(|name| line.text.contains(name));
    let linked = MAIL.is_match(&line.text)
        || contact.links.iter().any(|link| line.text.contains(link.as_str()));
    line.section == Some(SectionKind::Contact) || named || linked
}

fn labelled_name(cells: &[Cell]) -> Option<String> {
    let named = cells.iter().filter(|cell| cell.field == Some(Field::Name));
    let mut named =
        named.filter(|cell| !cell.text.contains(|sign: char| sign.is_ascii_digit() || sign == '@'));
    named.next().map(|cell| cell.text.trim().to_owned())
}

/// A name and where it was found.
struct FoundName {
    text: String,
    line: usize,
    /// Whether the mail address, a link or its title confirms it.
    certain: bool,
}

fn find_name(lines: &[Line]) -> Option<FoundName> {
    let handles = handles(lines);
    let mut best: Option<(usize, FoundName)> = None;
    let mut index = 0;
    for (at, line) in lines.iter().enumerate() {
        let text = DOCUMENT.replace(&line.text, "");
        if line.heading || !text.contains(char::is_alphabetic) {
            continue;
        }
        index += 1;
        let late = index > NAME_LINES && !line.after_blank;
        if line.bullet || late || text.len() > 120 {
            continue;
        }
        let listed = matches!(
            line.section,
            Some(
                SectionKind::Skills
                    | SectionKind::Languages
                    | SectionKind::Experience
                    | SectionKind::Education
            )
        );
        let mut parts = name_parts(&text);
        parts.retain(|part| is_name(part) && !is_company(part) && !is_institution(part));
        if parts.is_empty() {
            continue;
        }
        let headline = lines.get(at + 1).is_some_and(|next| {
            !next.heading
                && !next.bullet
                && next.text.len() < 60
                && roles::names_role(&next.text)
                && dates::period(&next.text).is_none()
        });
        for part in parts {
            let words = part.split_whitespace().map(handle).filter(|word| word.len() > 2);
            let mailed = words.filter(|word| handles.contains(word.as_str())).count();
            let role = roles::names_role(&part);
            let first =
                if listed { 0 } else { usize::from(index == 1) * 2 + usize::from(index < 4) };
            let titled = usize::from(
                headline && !role && part.len() == text.trim().len() && !listed_entry(lines, at),
            );
            let score =
                mailed * 3 + usize::from(line.marked) * 2 + first + usize::from(!role) + titled;
            if score >= 3 && best.as_ref().is_none_or(|(before, _)| score > *before) {
                let certain = mailed > 0 || titled > 0 && !listed;
                best = Some((score, FoundName { text: part, line: at, certain }));
            }
        }
    }
    best.map(|(_, name)| name)
}

/// Whether a period is within the two lines below, as it is in a position.
fn listed_entry(lines: &[Line], at: usize) -> bool {
    lines.iter().skip(at + 1).take(2).any(|line| dates::period(&line.text).is_some())
}

/// The parts of a line that may be a name, with a name in quotes as a part of it.
fn name_parts(text: &str) -> Vec<String> {
    let gap = text.find("   ").unwrap_or(text.len());
    let parts = text[..gap]
        .split(['|', '·', '•', ',', '\t', ';', '❖', '◆', '◇', '♦', '✦', '★', '∙', '⋅', '¦']);
    let parts = parts.flat_map(|part| part.split(" - ")).flat_map(|part| part.split(" – "));
    parts.flat_map(|part| part.split(" — ")).map(|part| part.trim().to_owned()).collect()
}

/// Whether the mail address or a link has a word of a text.
pub(super) fn is_addressed(text: &str, handles: &str) -> bool {
    let mut words = text.split_whitespace().map(handle).filter(|word| word.len() > 2);
    words.any(|word| handles.contains(word.as_str()))
}

/// What the mail address and the links call the person, without accents.
pub(super) fn handles(lines: &[Line]) -> String {
    let mail = lines.iter().find_map(|line| MAIL.find(&line.text));
    let mut handles =
        mail.and_then(|mail| mail.as_str().split('@').next()).map(handle).unwrap_or_default();
    for link in lines.iter().flat_map(|line| LINK.find_iter(&line.text)).take(4) {
        handles.push(' ');
        handles.push_str(&handle(link.as_str().rsplit("/in/").next().unwrap_or("")));
    }
    handles
}

/// A word as addresses write it.
fn handle(word: &str) -> String {
    dates::fold(&word.replace(['\'', '’', '-', '.', '"', '“', '”', '_'], ""))
}

fn is_name(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let particle = [
        "von", "van", "de", "der", "den", "del", "la", "da", "di", "zu", "el", "al", "bin", "ter",
        "y", "dos", "das", "do", "le", "du", "ben", "ibn", "e",
    ];
    let word = |word: &&str| {
        let word = word.trim_matches(['"', '“', '”', '„', '(', ')']);
        let plain =
            word.chars().all(|sign| sign.is_alphabetic() || matches!(sign, '\'' | '’' | '-' | '.'));
        plain && (word.starts_with(char::is_uppercase) || particle.contains(&word))
    };
    (2..=5).contains(&words.len()) && words.iter().all(word) && !words[0].ends_with("-")
}

/// Where the person lives.
fn location(zone: &[&Line], cells: &[Cell], name: Option<&str>) -> Option<String> {
    let labelled = cells.iter().enumerate().filter(|(_, cell)| cell.field == Some(Field::Place));
    for (at, cell) in labelled {
        // The town may be in the lines below the street.
        let below = cells[at + 1..].iter().filter(|next| {
            next.field.is_none()
                && next.line > cell.line
                && next.line <= cell.line + 2
                && !is_reachable(&next.text)
        });
        let mut address = cell.text.clone();
        let mut found = place(&address);
        for next in below {
            if found.is_some() && !ends_open(&address) {
                break;
            }
            address = format!("{}, {}", address.trim_end_matches(','), next.text);
            found = place(&address);
        }
        if found.is_some() {
            return found;
        }
    }
    let near = zone.iter().any(|line| MAIL.is_match(&line.text));
    let title = name.and_then(|name| zone.iter().position(|line| line.text.contains(name)));
    let mut best: Option<(i32, String)> = None;
    for cell in cells.iter().filter(|cell| cell.field.is_none()) {
        let line = zone[cell.line];
        // The name of the person is the first line, or marked.
        if line.marked || line.bullet && !line.after_blank && line.text.len() > 40 {
            continue;
        }
        let text = cell.text.trim();
        let skip = name.is_some_and(|name| text.contains(name))
            || text.contains('@')
            || LINK.is_match(text)
            || SITE.is_match(text)
            || PHONE.is_match(text) && !places::has_postal_code(text)
            || headings::kind_of(text).is_some()
            || roles::names_role(text);
        let is_named = |place: &String| is_institution(place) || is_company(place);
        let Some(place) = place(text).filter(|place| !skip && !is_named(place)) else { continue };
        let region = place.contains(", ");
        let known = places::is_known(text);
        let postal = places::has_postal_code(text);
        let reachable = !cell.alone && is_reachable(&line.text);
        let evident = region || known || postal;
        // Two capitals alone look like a name, which comes first; a line of its own below the name is a title.
        let named = cell.line == 0 && !evident && is_name(&place);
        let headline = cell.alone
            && !evident
            && (place.contains(' ') || is_skill(&place))
            && title.is_some_and(|title| cell.line > title && cell.line <= title + 2);
        let score = i32::from(region) * 2
            + i32::from(known) * 2
            + i32::from(postal) * 2
            + i32::from(!named)
            + i32::from(reachable)
            + i32::from(near && cell.line > 0)
            - i32::from(headline) * 4;
        if score > best.as_ref().map_or(0, |(best, _)| *best) {
            best = Some((score, place));
        }
    }
    best.map(|(_, place)| place).or_else(|| place_in_sentence(cells))
}

/// A place that is the last sentence of a line: "Engineer for payments. Berlin, Germany."
fn place_in_sentence(cells: &[Cell]) -> Option<String> {
    let free = cells.iter().filter(|cell| cell.field.is_none());
    let mut last = free.filter_map(|cell| cell.text.trim_end_matches('.').rsplit_once(". "));
    last.find_map(|(_, sentence)| place(sentence).filter(|_| places::is_place(sentence)))
}

/// Whether an address goes on: a street alone, or a comma at its end.
fn ends_open(address: &str) -> bool {
    address.trim_end().ends_with(',')
}

fn is_skill(text: &str) -> bool {
    crate::skills::Lexicon::shipped().kind(&text.to_lowercase()).is_some()
}

/// A phone number as `+` and digits. `code` is that of the country, if it is known.
fn phone(text: &str, code: Option<&str>) -> Option<String> {
    if dates::period(text).is_some() {
        return None;
    }
    let found = PHONE.find_iter(text).map(|found| found.as_str().replace("(0)", ""));
    let abroad = code.filter(|code| *code != "1");
    found
        .filter(|found| dates::single(found).is_none_or(|date| date.end - date.start < found.len()))
        .filter_map(|found| {
            let digits: String = found.chars().filter(char::is_ascii_digit).collect();
            let international = found.starts_with('+');
            match digits.len() {
                8..=15 if international => Some(format!("+{digits}")),
                10..=16 if digits.starts_with("00") => {
                    (!digits.starts_with("000")).then(|| format!("+{}", &digits[2..]))
                }
                // Italian numbers keep their zero.
                9..=12 if digits.starts_with('0') && code == Some("39") => {
                    Some(format!("+39{digits}"))
                }
                9..=12 if digits.starts_with('0') => Some(format!("+{}{}", code?, &digits[1..])),
                8..=11 if abroad.is_some() => abroad.map(|code| format!("+{code}{digits}")),
                10 => Some(format!("+1{digits}")),
                11 if digits.starts_with('1') => Some(format!("+{digits}")),
                _ => None,
            }
        })
        .next()
}
