//! Names of authors as the styles write them.

use std::fmt;
use std::ops::Range;

use super::{segments, years};

/// More names are not read: no list of authors needs them.
const MAX_NAMES: usize = 500;

/// A person or an organisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) family: String,
    /// Given names or initials; empty for organisations.
    pub(crate) given: String,
}

impl Name {
    fn new(family: &str, given: &str) -> Self {
        Self { family: family.trim().to_owned(), given: given.trim().to_owned() }
    }

    pub(crate) fn is_organisation(&self) -> bool {
        self.given.is_empty()
    }

    /// Whether its initials have no full stops, as in Vancouver style.
    pub(super) fn is_short(&self) -> bool {
        !self.given.is_empty()
            && self.given.len() <= 4
            && self.given.chars().all(char::is_uppercase)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given.as_str() {
            "" => f.write_str(&self.family),
            given => write!(f, "{}, {given}", self.family),
        }
    }
}

/// Names of people, or the whole as an organisation.
pub(super) fn parse(text: &str) -> Vec<Name> {
    let text = strip_roles(text);
    if text.chars().filter(|c| c.is_alphabetic()).count() < 2 {
        return Vec::new();
    }
    people(text).unwrap_or_else(|| vec![Name::new(text.trim_end_matches(['.', ',', ':']), "")])
}

/// Whether a text is nothing but names of people.
pub(super) fn are_names(text: &str) -> bool {
    people(strip_roles(text)).is_some()
}

/// Whether the first name has its initials first, as in IEEE style.
pub(super) fn initials_first(text: &str) -> bool {
    let first = text.split([' ', ',']).next().unwrap_or_default();
    first.ends_with('.') && is_initials(first)
}

/// Without `(Eds.)`, `editors` and the like.
fn strip_roles(text: &str) -> &str {
    let mut text = text.trim().trim_end_matches([',', ':', ';']).trim_end();
    while let Some(open) =
        text.rfind(['(', '[']).filter(|_| text.trim_end_matches('.').ends_with([')', ']']))
    {
        text = text[..open].trim_end().trim_end_matches(',');
    }
    for role in [
        ", editors",
        ", editor",
        ", eds",
        ", ed",
        ", directors",
        ", director",
        ", translators",
        ", translator",
    ] {
        let bare = text.trim_end_matches('.');
        let start = bare.len().saturating_sub(role.len());
        if bare.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(role)) {
            text = &bare[..start];
        }
    }
    text
}

fn people(text: &str) -> Option<Vec<Name>> {
    let text = text.trim();
    if text.len() > 8_000 || text.is_empty() || has_quote(text) {
        return None;
    }
    // `et al.` is no French `and`.
    let plain = text.replace('…', " ").replace(". . .", " ").replace("...", " ");
    let plain = plain.replace(" et al", ", et_al");
    let joined = [" & ", " and ", " und ", " et ", " y ", "; "]
        .iter()
        .fold(plain, |text, word| text.replace(word, ", "));
    let parts: Vec<&str> = joined
        .split(',')
        .map(|part| part.trim().trim_start_matches("& ").trim_start_matches("and ").trim())
        .filter(|part| !part.is_empty() && *part != "&" && *part != "and")
        .take(MAX_NAMES * 2)
        .collect();
    inverted(&parts).or_else(|| first_inverted(&parts)).or_else(|| straight(&parts))
}

/// `Doe, J. A., Roe, R.`, `Doe JA, Roe R` or `J. A. Doe, R. Roe`.
fn inverted(parts: &[&str]) -> Option<Vec<Name>> {
    let mut names: Vec<Name> = Vec::new();
    let mut parts = parts.iter().copied().peekable();
    while let Some(part) = parts.next() {
        if is_et_al(part) {
            continue;
        }
        if is_suffix(part) {
            let last = names.last_mut()?;
            last.given.push_str(", ");
            last.given.push_str(part);
            continue;
        }
        if let Some(initials) = parts.next_if(|next| is_initials(next)) {
            is_family(part).then_some(())?;
            names.push(Name::new(part, initials));
            continue;
        }
        names.push(short(part).or_else(|| leading_initials(part))?);
    }
    (!names.is_empty()).then_some(names)
}

/// `Doe, Jane, Richard Roe`, as MLA and Chicago write it.
fn first_inverted(parts: &[&str]) -> Option<Vec<Name>> {
    let [family, given, rest @ ..] = parts else { return None };
    let last = given.trim_end_matches('.').rsplit(' ').next().unwrap_or_default();
    // The full stop of an initial is part of the name.
    let given = if last.chars().count() == 1 { given } else { given.trim_end_matches('.') };
    let family = *family;
    if !is_family(family) || !is_given(given) {
        return None;
    }
    let mut names = vec![Name::new(family, given)];
    for part in rest {
        if is_et_al(part) {
            continue;
        }
        if is_suffix(part) {
            names.last_mut()?.given.push_str(&format!(", {part}"));
            continue;
        }
        names.push(full(part)?);
    }
    Some(names)
}

/// `Jane Doe, Richard Roe`: at least two, as one might be an organisation.
fn straight(parts: &[&str]) -> Option<Vec<Name>> {
    let et_al = parts.iter().any(|part| is_et_al(part));
    let names: Option<Vec<_>> =
        parts.iter().filter(|part| !is_et_al(part)).map(|part| full(part)).collect();
    names.filter(|names| names.len() >= 2 || et_al && !names.is_empty())
}

fn is_et_al(part: &str) -> bool {
    let part = part.to_lowercase();
    matches!(part.trim_end_matches('.'), "et_al" | "others" | "u. a" | "u.a" | "and others")
}

fn is_suffix(part: &str) -> bool {
    matches!(part.trim_end_matches('.'), "Jr" | "Sr" | "II" | "III" | "IV")
}

/// `J.`, `J. A.`, `J.-P.`, `JA`, `Yu.`.
fn is_initials(part: &str) -> bool {
    let mut groups = 0;
    let dotted = part.contains('.');
    for group in part.split(['.', ' ', '-', '‐', '\u{a0}']).filter(|group| !group.is_empty()) {
        groups += 1;
        let length = group.chars().count();
        let first_upper =
            group.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
        let all_upper = group.chars().all(|c| c.is_alphabetic() && !c.is_lowercase());
        let fits = length == 1 && first_upper
            || all_upper && length <= 3
            || dotted && length == 2 && first_upper;
        if !fits && !is_particle(group) {
            return false;
        }
    }
    (1..=6).contains(&groups) && part.chars().next().is_some_and(|c| !c.is_lowercase())
}

/// Lower-case words of family names.
pub(crate) fn is_particle(word: &str) -> bool {
    const PARTICLES: [&str; 34] = [
        "af", "al", "av", "bin", "d'", "da", "dal", "dalla", "das", "de", "del", "della", "den",
        "der", "des", "di", "do", "dos", "du", "e", "el", "ibn", "la", "las", "le", "los", "ten",
        "ter", "van", "vande", "ver", "von", "zu", "zur",
    ];
    PARTICLES.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// At most five words, which are capitalised, particles, or of a script without capitals.
fn is_family(text: &str) -> bool {
    let mut words = 0;
    for word in text.split([' ', '\u{a0}']).filter(|word| !word.is_empty()) {
        words += 1;
        let first = word.chars().find(|c| c.is_alphabetic());
        let named = first.is_some_and(|c| !c.is_lowercase())
            || is_particle(word)
            || word.contains(['\'', '’']);
        let plain = word.chars().all(|c| c.is_alphabetic() || is_mark(c) || "'’-‐‑.".contains(c));
        // A full stop within a family name is that of `St.`; others end a sentence.
        let stop = word.ends_with('.') && word.chars().count() > 3 || word.matches('.').count() > 1;
        if !named || !plain || stop || segments::is_function_word(word) {
            return false;
        }
    }
    (1..=5).contains(&words)
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{dff}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}')
}

/// One to four words: names or initials.
fn is_given(text: &str) -> bool {
    let words: Vec<_> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let fits = |word: &&str| {
        let bare = word.trim_end_matches('.');
        let stop = word.ends_with('.') && bare.chars().count() > 2 && !bare.contains(['.', '-']);
        let capital = bare.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
        (capital || is_particle(bare))
            && !stop
            && bare.chars().all(|c| c.is_alphabetic() || is_mark(c) || ".-'’‐".contains(c))
    };
    (1..=4).contains(&words.len()) && words.iter().all(fits)
}

/// `Doe JA`.
fn short(part: &str) -> Option<Name> {
    let part = part.trim_end_matches('.');
    let (family, initials) = part.rsplit_once(' ')?;
    let upper = initials.chars().all(char::is_uppercase) && initials.chars().count() <= 3;
    (upper && !initials.is_empty() && is_family(family) && family.chars().any(char::is_lowercase))
        .then(|| Name::new(family, initials))
}

/// `J. A. Doe`.
fn leading_initials(part: &str) -> Option<Name> {
    let part = part.trim_end_matches('.');
    let mut split = 0;
    for word in part.split_inclusive(' ') {
        if !(word.trim_end().ends_with('.') && is_initials(word.trim_end())) {
            break;
        }
        split += word.len();
    }
    let (given, family) = part.split_at(split);
    let country = matches!(given.trim(), "U.S." | "U.K." | "U.N." | "E.U.");
    (split > 0 && !country && is_family(family)).then(|| Name::new(family, given))
}

/// `Jane M. Doe` or `J. Doe`.
fn full(part: &str) -> Option<Name> {
    if let Some(name) = leading_initials(part) {
        return Some(name);
    }
    let part = part.trim_end_matches('.');
    let words: Vec<_> = part.split(' ').collect();
    if !(2..=6).contains(&words.len()) || !is_family(&words[words.len() - 1..].join(" ")) {
        return None;
    }
    let family_start = words
        .iter()
        .rposition(|word| !is_particle(word) && !std::ptr::eq(*word, words[words.len() - 1]));
    let at = family_start? + 1;
    let (given, family) = (words[..at].join(" "), words[at..].join(" "));
    (is_given(&given) && is_family(&family)).then(|| Name::new(&family, &given))
}

/// How far the names at the start of a reference go.
pub(super) fn lead(head: &str, italic: Option<usize>) -> usize {
    if let Some(italic) = italic.filter(|at| *at > 0) {
        let before = &head[..italic];
        // Chicago has the year between names and title.
        let names = years::at_end(before).map_or(before, |(names, _)| names);
        if people(strip_roles(names)).is_some() {
            return names.len();
        }
    }
    let mut longest = 0;
    for end in segments::ends(head).take(40).chain(head.find('(')) {
        if people(strip_roles(&head[..end])).is_some() {
            longest = longest.max(end);
        }
    }
    if longest > 0 {
        return longest;
    }
    if let Some(italic) = italic.filter(|at| *at > 0 && *at < 200)
        && segments::split(&head[..italic]).len() == 1
        && segments::is_title_case(&head[..italic])
    {
        return italic;
    }
    let parts: Vec<usize> = segments::ends(head).take(4).collect();
    match parts[..] {
        // An organisation, its title, and more.
        [first, _, _, ..] if segments::is_title_case(&head[..first]) && first < 150 => first,
        _ => 0,
    }
}

/// A quoted part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) start: usize,
    pub(super) inner: Range<usize>,
    pub(super) end: usize,
}

pub(super) fn has_quote(text: &str) -> bool {
    text.contains(['"', '“', '«', '„', '”'])
}

/// The first quoted part; single quotes only at the start.
pub(super) fn quote(text: &str) -> Option<Quote> {
    let single = text.starts_with(['\'', '‘']);
    let start = if single { 0 } else { text.find(['"', '“', '«', '„'])? };
    let open = text[start..].chars().next()?;
    let from = start + open.len_utf8();
    let closing: &[char] = match open {
        '“' => &['”'],
        '«' => &['»'],
        '„' => &['“', '”'],
        '‘' => &['’'],
        '\'' => &['\''],
        _ => &['"', '”'],
    };
    let ends_quote = |at: usize, length: usize| {
        let next = text[at + length..].chars().next();
        // An apostrophe is followed by a letter.
        !single || next.is_none_or(|c| !c.is_alphanumeric())
    };
    let mut search = from;
    while let Some(at) = text[search..].find(closing).map(|at| search + at) {
        let length = text[at..].chars().next().map_or(1, char::len_utf8);
        if ends_quote(at, length) && at > from {
            return Some(Quote { start, inner: from..at, end: at + length });
        }
        search = at + length;
    }
    None
}
