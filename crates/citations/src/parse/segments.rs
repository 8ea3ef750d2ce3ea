//! The parts of a reference between full stops.

/// Abbreviations that a capital may follow.
const ALWAYS: [&str; 17] = [
    "assoc", "dept", "dr", "environ", "int", "mr", "mrs", "ms", "mt", "proc", "prof", "rev", "sci",
    "st", "trans", "univ", "vs",
];

/// Abbreviations that end a segment if a capital follows.
const OTHERS: [&str; 22] = [
    "al", "art", "bd", "ch", "co", "corp", "ed", "eds", "fig", "hrsg", "inc", "jr", "ltd", "no",
    "nos", "nr", "p", "pp", "ser", "sr", "vol", "vols",
];

/// Words that names of people never have.
pub(super) fn is_function_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "a",
        "administration",
        "agency",
        "an",
        "and",
        "association",
        "at",
        "authority",
        "bank",
        "board",
        "bureau",
        "by",
        "center",
        "centre",
        "city",
        "college",
        "commission",
        "committee",
        "company",
        "council",
        "department",
        "federation",
        "for",
        "foundation",
        "from",
        "group",
        "in",
        "institute",
        "institution",
        "international",
        "journal",
        "ministry",
        "museum",
        "national",
        "nations",
        "network",
        "of",
        "office",
        "on",
        "organization",
        "panel",
        "press",
        "program",
        "programme",
        "report",
        "school",
        "service",
        "services",
        "society",
        "survey",
        "the",
        "union",
        "university",
    ];
    WORDS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Where each segment ends: after its full stop, question or exclamation mark.
pub(super) fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(move |(at, c)| {
        let end = at + c.len_utf8();
        let after = &text[end..];
        let ends = match c {
            '.' => {
                (after.is_empty() || after.starts_with(' ')) && !is_abbreviation(&text[..at], after)
            }
            '?' | '!' => after.is_empty() || after.starts_with(' '),
            '。' => true,
            _ => false,
        };
        ends.then_some(end)
    })
}

fn is_abbreviation(before: &str, after: &str) -> bool {
    let word = before.rsplit([' ', '(', '[', '"', '“']).next().unwrap_or_default();
    let bare = word.replace('.', "").to_lowercase();
    let count = bare.chars().count();
    // Initials and `U.S.`; in front of a capital they may still end the names, which is for `lead` to find out.
    let next = after.trim_start().chars().next();
    let capital = word.chars().all(|c| c.is_uppercase() || c == '.');
    let followed = next.is_some_and(|c| c.is_uppercase() || capital && c.is_ascii_digit());
    let initial = count == 1 && bare.chars().all(char::is_alphabetic) && !followed;
    let dotted = word.contains('.') && count <= 4 && !next.is_some_and(char::is_uppercase);
    let country = word.contains('.') && matches!(bare.as_str(), "us" | "uk" | "eu" | "un" | "usa");
    let other =
        OTHERS.binary_search(&bare.as_str()).is_ok() && !next.is_some_and(char::is_uppercase);
    initial || dotted || country || other || ALWAYS.binary_search(&bare.as_str()).is_ok()
}

/// The segments of a text, without their full stops.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut start = 0;
    for end in ends(text).chain([text.len()]) {
        let segment = text.get(start..end).unwrap_or_default().trim().trim_end_matches('.');
        if segment.chars().any(char::is_alphanumeric) {
            segments.push(segment.to_owned());
        }
        start = end;
    }
    segments
}

/// A title or name without the punctuation around it; none if it has no word.
pub(super) fn tidy(text: &str) -> Option<String> {
    let mut text = text.trim();
    loop {
        let before = text.len();
        text = text.trim_matches([' ', ',', ';', ':', '"', '“', '”', '«', '»', '„']);
        if !text.ends_with("..") {
            text = text.strip_suffix('.').unwrap_or(text);
        }
        // `(2nd ed.)` and `[Data set]` describe a title.
        for (open, close) in [('(', ')'), ('[', ']')] {
            if text.ends_with(close)
                && let Some(at) = text.rfind(open).filter(|at| *at > 0)
            {
                text = text[..at].trim_end();
            }
        }
        if text.len() == before {
            break;
        }
    }
    let count = text.chars().filter(|c| c.is_alphabetic()).count();
    (count >= 2).then(|| text.to_owned())
}

/// The name of a journal, book or site, without volume, pages and date.
pub(super) fn container(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches([',', '.', ';', ':', ' ']);
    let mut end = text.len();
    for (at, _) in text.match_indices([',', ';', '(', ':']) {
        let rest = text[at + 1..].trim_start();
        let word = rest.split([' ', '.', ',']).next().unwrap_or_default().to_lowercase();
        let detail = rest.starts_with(|c: char| c.is_ascii_digit())
            || matches!(
                word.as_str(),
                "vol"
                    | "no"
                    | "pp"
                    | "p"
                    | "art"
                    | "issue"
                    | "edited"
                    | "bd"
                    | "nr"
                    | "article"
                    | "ed"
                    | "eds"
            )
            || super::years::is_date_word(&word) && !word.is_empty();
        if detail {
            end = at;
            break;
        }
    }
    let text = text[..end].trim_end();
    // `Nature 12` has its volume without a comma.
    let text = text
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '–')
        .trim_end_matches(" vol.");
    tidy(text).filter(|name| {
        !matches!(name.to_lowercase().as_str(), "accessed" | "retrieved" | "available")
    })
}

/// The container that follows a title.
pub(super) fn first_container(after: &str) -> Option<String> {
    let text = skip_details(after);
    let text = text
        .strip_prefix("In: ")
        .or_else(|| text.strip_prefix("In "))
        .or_else(|| text.strip_prefix("in "))
        .unwrap_or(text);
    // The editors of a book come before its title.
    let text = ["(Eds.),", "(Ed.),", "(eds.),", "(ed.),", "(Eds.)", "(Hrsg.),"]
        .iter()
        .find_map(|role| text.split_once(role).map(|(_, rest)| rest.trim_start()))
        .unwrap_or(text);
    let lower = text.to_lowercase();
    if ["accessed", "retrieved", "available at", "doi"].iter().any(|word| lower.starts_with(word)) {
        return None;
    }
    split(text).first().and_then(|segment| container(segment))
}

/// Without `(2nd ed.)`, `[Report]` and punctuation at the start.
pub(super) fn skip_details(text: &str) -> &str {
    let mut text = text.trim_start_matches(['.', ',', ';', ':', ' ', '"', '”', '’', '\'']);
    while let Some(close) = text.starts_with(['(', '[']).then(|| text.find([')', ']'])).flatten() {
        text = text[close + 1..].trim_start_matches(['.', ',', ';', ':', ' ']);
    }
    text
}

/// Whether a volume follows, as after the name of a journal.
pub(super) fn has_volume(after: &str) -> bool {
    after.strip_prefix(',').is_some_and(|rest| {
        let rest = rest.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (1..=4).contains(&digits)
            && (rest[digits..].starts_with(['(', ','])
                && super::years::year_of(&rest[..digits]).is_none())
    })
}

/// Whether a text ends with a volume: `Journal of Heat, 12`.
pub(super) fn ends_with_volume(text: &str) -> bool {
    text.rsplit_once(',').is_some_and(|(_, volume)| {
        let volume = volume.trim();
        let number = volume.bytes().all(|b| b.is_ascii_digit());
        (1..=4).contains(&volume.len()) && number && super::years::year_of(volume).is_none()
    })
}

/// Title and container of a text without italics and quotes.
pub(super) fn plain_title(rest: &str) -> (Option<String>, Option<String>) {
    let rest = skip_details(rest);
    let segments = split(rest);
    let Some(first) = segments.first() else { return (None, None) };
    if is_journal(first) {
        return (None, container(first));
    }
    let second = segments.get(1).map(|segment| {
        let segment =
            segment.strip_prefix("In: ").or_else(|| segment.strip_prefix("In ")).unwrap_or(segment);
        match segment.split_once("(Eds.), ").or_else(|| segment.split_once("(Ed.), ")) {
            Some((_, book)) => book,
            None => segment,
        }
    });
    let lower = first.to_lowercase();
    let title = if lower.starts_with("retrieved from") || lower.starts_with("accessed") {
        None
    } else {
        tidy(first)
    };
    let container = second.and_then(container).filter(|name| {
        let lower = name.to_lowercase();
        !lower.starts_with("retrieved")
            && !lower.starts_with("accessed")
            && !lower.starts_with("available")
    });
    (title, container)
}

/// Whether a segment is a journal with volume and pages: `Journal of Heat, 12(3), 1–10`.
fn is_journal(segment: &str) -> bool {
    segment.match_indices(',').any(|(at, _)| {
        let rest = &segment[at..];
        has_volume(rest) && {
            let after = rest[1..].trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
            let pages = after.split_once(',').map_or("", |(_, pages)| pages.trim_start());
            after.starts_with('(') || pages.starts_with(|c: char| c.is_ascii_digit())
        }
    })
}

/// Whether most words are capitalised, as in names of organisations.
pub(super) fn is_title_case(text: &str) -> bool {
    let words = text.split([' ', '-']).filter(|word| word.chars().any(char::is_alphabetic));
    let (mut capital, mut lower) = (0, 0);
    for word in words {
        let small = is_function_word(word)
            || matches!(word, "to" | "de" | "la" | "du" | "des" | "für" | "und" | "&" | "y" | "et");
        let first = word.chars().find(|c| c.is_alphabetic());
        if first.is_some_and(|c| !c.is_lowercase()) {
            capital += 1;
        } else if !small {
            lower += 1;
        }
    }
    capital > 0 && lower == 0
}

/// Whether the text before the date is a title: it is a sentence, or only a container follows it.
pub(super) fn is_title_first(before: &str, rest: &str) -> bool {
    if !is_title_case(before.trim_end_matches('.')) {
        return true;
    }
    rest.starts_with("In ") || !rest.chars().any(char::is_alphabetic)
}
