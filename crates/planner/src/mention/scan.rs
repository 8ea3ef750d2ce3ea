//! Finds values in a text, from left to right.

use jiff::civil::Date;
use language::dates::{date_at, time_at};
use language::verbs::is_verb;
use language::words::is_stop_word;

use super::characters::{is_cjk, is_wide_mark, is_word_char};
use super::ids::{IdKind, id_at};
use super::quotes::{Quotes, is_mark};
use super::{MAX_MENTIONS, Mention, Written, add_context};
use crate::number::{Unit, number_at};

/// Words before the number of a part of the request: `Step 1: …`.
const PARTS: [&str; 5] = ["step", "part", "phase", "task", "point"];

/// Words in capitals at the start of a sentence that name nothing.
const OPENERS: [&str; 18] = [
    "id",
    "then",
    "please",
    "next",
    "finally",
    "afterwards",
    "also",
    "additionally",
    "first",
    "second",
    "third",
    "lastly",
    "help",
    "want",
    "need",
    "let",
    "based",
    "using",
];

/// The values of a text in order, with the words around them.
pub(crate) fn mentions(text: &str, today: Date) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut quotes = Quotes::default();
    let mut at = 0;
    while at < text.len() && found.len() < MAX_MENTIONS {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { break };
        let value = match quotes.at(text, at) {
            Some(quote) => {
                let end = at + quote.length;
                let value = classify(quote.inner, today);
                Some((mention(at, end, quote.inner, true, value), end))
            }
            None if starts_value(text, at) => value_at(text, at, today),
            None => None,
        };
        if let Some((mention, end)) = value {
            found.push(mention);
            at = end.max(at + c.len_utf8());
            continue;
        }
        at += c.len_utf8();
    }
    add_context(text, &mut found);
    found
}

/// What a whole text looks like.
fn classify(text: &str, today: Date) -> Written {
    let text = text.trim();
    if let Some((kind, length)) = id_at(text)
        && length == text.len()
        && matches!(kind, IdKind::File | IdKind::Reference)
    {
        return Written::Id(kind);
    }
    if let Some((date, end)) = date_at(text, today) {
        let rest = text[end..].trim_start_matches([' ', 'T']);
        if rest.is_empty() {
            return Written::Date(date);
        }
        if time_at(rest) == Some(rest.len()) {
            return Written::Moment(date, rest.to_owned());
        }
    }
    if time_at(text) == Some(text.len()) {
        return Written::Time;
    }
    if phone_at(text) == Some(text.len()) {
        return Written::Phone;
    }
    if let Some((quantity, end)) = number_at(text)
        && end == text.len()
    {
        return Written::Number(quantity);
    }
    address(text).unwrap_or(Written::Text)
}

fn starts_value(text: &str, at: usize) -> bool {
    let first = text[at..].chars().next();
    if first.is_none_or(|c| c.is_whitespace() || is_mark(c)) {
        return false;
    }
    let mut before = text[..at].chars().rev();
    let (last, second) = (before.next(), before.next());
    // The numbers of `covid-19` and `cm^2` count nothing.
    let is_suffix = matches!(last, Some('-' | '^'))
        && second.is_some_and(char::is_alphabetic)
        && text[at..].starts_with(|c: char| c.is_ascii_digit());
    let is_within = last.is_some_and(is_cjk) && first.is_some_and(is_cjk);
    !is_suffix
        && !is_within
        && last.is_none_or(|c| !is_word_char(c) && !matches!(c, '.' | '_' | '/' | '@'))
}

fn value_at(text: &str, at: usize, today: Date) -> Option<(Mention, usize)> {
    let rest = &text[at..];
    if rest.starts_with('[')
        && let Some(end) = rest.find(']')
    {
        let items = items(&rest[1..end]);
        let value = Written::List(items);
        return Some((mention(at, at + end + 1, &rest[..=end], false, value), at + end + 1));
    }
    let made = |length: usize, value: Written| {
        Some((mention(at, at + length, &rest[..length], false, value), at + length))
    };
    let token = token(rest);
    if let Some((length, extension)) = file_type_at(rest) {
        return made(length, Written::FileType(extension));
    }
    if let Some(value) = address(token) {
        return made(token.len(), value);
    }
    if is_relative_path(token) && follows_path_word(&text[..at]) {
        return made(token.len(), Written::Path);
    }
    if let Some((kind, length)) = id_at(rest) {
        return made(length, Written::Id(kind));
    }
    if let Some((date, length)) = date_at(rest, today) {
        return made(length, Written::Date(date));
    }
    if let Some(length) = time_at(rest) {
        return made(length, Written::Time);
    }
    if let Some(length) = phone_at(rest) {
        return made(length, Written::Phone);
    }
    if let Some((quantity, length)) = number_at(rest) {
        let is_marker = quantity.is_whole && numbers_a_part(text, at, length);
        return if is_marker { None } else { made(length, Written::Number(quantity)) };
    }
    if is_called(&text[..at], token) {
        return Some((mention(at, at + token.len(), token, true, Written::Text), at + token.len()));
    }
    if is_identifier(token) {
        return made(token.len(), Written::Name);
    }
    let length = name_at(text, at)?;
    made(length, Written::Name)
}

fn mention(start: usize, end: usize, text: &str, quoted: bool, value: Written) -> Mention {
    let text = text.to_owned();
    Mention { start, end, text, quoted, value, before: vec![], after: vec![], group: 0 }
}

fn items(text: &str) -> Vec<String> {
    let trimmed = text.split(',').map(|item| item.trim().trim_matches(['\'', '"', '“', '”']));
    trimmed.filter(|item| !item.is_empty()).map(ToOwned::to_owned).collect()
}

/// Whether a number only counts the parts of the request: `1. Parse a.xml`, `1) parse it 2) print it`, `Step 3: …`.
fn numbers_a_part(text: &str, at: usize, length: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let opens_line = before.is_empty() || before.ends_with('\n');
    let mut after = text[at + length..].chars();
    let (mark, next) = (after.next(), after.next());
    if next.is_some_and(|c| !c.is_whitespace()) {
        return false;
    }
    let is_listed = || opens_line || text.contains("1) ") && text.contains("2) ");
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    match mark {
        Some('.') => opens_line,
        Some(')') => is_listed(),
        Some(':') => opens_line || PARTS.contains(&word.to_ascii_lowercase().as_str()),
        _ => false,
    }
}

/// The text up to white space, without punctuation at its end.
fn token(text: &str) -> &str {
    let mut end = text.find(|c: char| c.is_whitespace()).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii()) {
        let mut is_folder = false;
        let cut = text[..end].find(|c: char| {
            is_folder |= c == '/';
            is_cjk(c) && !is_folder || is_wide_mark(c)
        });
        end = cut.unwrap_or(end);
    }
    text[..end].trim_end_matches([
        ',', '.', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '”', '’', '»', '…',
    ])
}

/// E-mail addresses, URLs and paths.
fn address(token: &str) -> Option<Written> {
    if token.contains(char::is_whitespace) || token.len() < 3 {
        return None;
    }
    let lower = token.to_ascii_lowercase();
    if let Some((user, host)) = token.split_once('@')
        && !user.is_empty()
        && host.contains('.')
    {
        return Some(Written::Email);
    }
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("www.") {
        return Some(Written::Url);
    }
    let is_rooted = token.starts_with('/')
        || token.starts_with("./")
        || token.starts_with("../")
        || token.starts_with("~/");
    if is_rooted && token.len() > 2 {
        return Some(Written::Path);
    }
    let (stem, extension) = token.rsplit_once('.')?;
    let plain = |text: &str| {
        text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*'))
    };
    // `e.g` is no file.
    let characters = stem.chars().filter(|c| c.is_alphanumeric()).count();
    let is_name = characters > 1 || extension.len() > 2 && (characters == 1 || stem == "*");
    if !plain(stem) || !is_name || !extension.chars().all(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    if !extension.starts_with(|c: char| c.is_ascii_lowercase())
        || !(1..=5).contains(&extension.len())
    {
        return None;
    }
    const DOMAINS: [&str; 10] =
        ["com", "org", "net", "io", "dev", "edu", "gov", "info", "co", "app"];
    Some(if DOMAINS.contains(&extension) { Written::Url } else { Written::Path })
}

/// Extensions by which people name types of files.
const EXTENSIONS: [&str; 22] = [
    "csv", "doc", "docx", "gif", "html", "jpeg", "jpg", "js", "json", "log", "md", "pdf", "png",
    "py", "rs", "svg", "ts", "txt", "xlsx", "xml", "yaml", "zip",
];

/// `PDF files`, `.txt`: the length of what names the type, and its extension.
fn file_type_at(text: &str) -> Option<(usize, String)> {
    let plain = text.strip_prefix('.').unwrap_or(text);
    let end = plain.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(plain.len());
    let extension = plain[..end].to_ascii_lowercase();
    if !EXTENSIONS.contains(&extension.as_str()) {
        return None;
    }
    let is_dotted = plain.len() < text.len();
    let names_files = plain[end..].trim_start().to_ascii_lowercase().starts_with("files");
    (is_dotted || names_files).then(|| (end + text.len() - plain.len(), extension))
}

/// Whether a word in lower case is a name: `a folder called backup`.
fn is_called(before: &str, word: &str) -> bool {
    let last = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    matches!(last, "called" | "named")
        && word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        && !is_stop_word(word)
        && !is_verb(word)
}

/// `works_at`, `a1b2c3d` and `order-2024-7`, but not `10km`.
fn is_identifier(token: &str) -> bool {
    let has_dash = token.contains('-') && token.starts_with(|c: char| c.is_ascii_alphabetic());
    if has_dash && token.bytes().filter(u8::is_ascii_digit).count() > 1 && token.len() > 5 {
        return token.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if token.len() < 4 || !token.chars().all(is_plain) {
        return false;
    }
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let alphabetic = token.bytes().filter(u8::is_ascii_alphabetic).count();
    let unit = token.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_quantity = unit.len() < token.len() && unit.bytes().all(|c| c.is_ascii_alphabetic());
    let is_snake = alphabetic > 2 && token.trim_matches('_').contains('_');
    is_snake || token.len() > 5 && digits > 1 && alphabetic > 0 && !is_quantity
}

/// `build/output`, but not `and/or` or `Europe/London`.
fn is_relative_path(token: &str) -> bool {
    let is_part = |part: &str| {
        part.len() > 1
            && !is_stop_word(part)
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    let parts = token.strip_suffix('/').unwrap_or(token);
    token.contains('/')
        && token.starts_with(|c: char| c.is_ascii_lowercase() || c == '.')
        && parts.split('/').all(is_part)
}

/// Whether a text ends with a word that introduces a path.
fn follows_path_word(before: &str) -> bool {
    let last = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    [
        "called",
        "named",
        "directory",
        "folder",
        "path",
        "file",
        "in",
        "into",
        "from",
        "to",
        "at",
        "under",
        "of",
        "read",
        "open",
        "list",
        "delete",
        "move",
        "rename",
        "copy",
        "parse",
    ]
    .contains(&last.to_ascii_lowercase().as_str())
}

/// `+1234567890`, `555-1234`, `123-456-7890`, and runs of ten digits or more.
fn phone_at(text: &str) -> Option<usize> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '+' | '-' | '(' | ')'))
        .unwrap_or(text.len());
    let part = text[..end].trim_end_matches(['-', '(', ')', '+']);
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let grouped = part.split('-').skip(1).all(|group| group.len() >= 3) && part.contains('-');
    let ends = !text[part.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.');
    let is_phone = (part.starts_with('+') || grouped) && digits >= 7 || digits >= 10;
    (is_phone && ends && digits <= 15).then_some(part.len())
}

/// Words in capitals: `New York`, `USD`, `Apple Inc.`.
fn name_at(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let first = word(rest);
    if !is_capital(first) {
        return None;
    }
    let lower = first.to_lowercase();
    let says_nothing = is_stop_word(&lower) || OPENERS.contains(&lower.as_str());
    if says_nothing {
        return None;
    }
    let opens = opens_sentence(text, at);
    if opens && is_verb(&lower) {
        return None;
    }
    let mut end = first.len();
    loop {
        let after = &rest[end..];
        let gap = if after.starts_with(". ") && is_abbreviation(&rest[..end]) { 2 } else { 1 };
        if !after.starts_with(' ') && gap == 1 {
            break;
        }
        let Some(next) = after.get(gap..).map(word).filter(|next| is_capital(next)) else { break };
        if is_stop_word(&next.to_lowercase()) {
            break;
        }
        end += gap + next.len();
    }
    if rest[end..].starts_with('.') && is_abbreviation(&rest[..end]) {
        end += 1;
    }
    // The first word of a sentence is in capitals anyway.
    if opens && end == first.len() && !first.chars().skip(1).any(char::is_uppercase) {
        return None;
    }
    Some(end)
}

fn word(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '/' | '\'' | '_' | '&'))
        .unwrap_or(text.len());
    let word = &text[..end];
    // `D.C.`, `U.S.`
    let dotted = text.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(text.len());
    let with_dots = &text[..dotted];
    let is_dotted = with_dots
        .split('.')
        .filter(|part| !part.is_empty())
        .all(|part| part.chars().count() == 1 && part.chars().all(char::is_uppercase))
        && with_dots.matches('.').count() > 1;
    if is_dotted {
        with_dots
    } else {
        word.trim_end_matches(['-', '/', '\'', '&', '_']).trim_end_matches("'s")
    }
}

fn is_capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

/// `Inc`, `Mr`, `St`: a stop after it is part of the name.
fn is_abbreviation(name: &str) -> bool {
    let last = name.rsplit([' ', '.']).next().unwrap_or(name);
    ["Inc", "Ltd", "Corp", "Co", "Mr", "Mrs", "Ms", "Dr", "St", "Jr", "Sr"].contains(&last)
}

fn opens_sentence(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end();
    before.is_empty() || before.ends_with(['.', '!', '?', ':', ';']) || text[..at].ends_with('\n')
}

/// Whether a number counts days, for dates that are given by a duration.
pub(crate) fn days_of(mention: &Mention) -> Option<i64> {
    let Written::Number(quantity) = &mention.value else { return None };
    let Unit::Word(unit) = &quantity.unit else { return None };
    let days = language::dates::days_in(unit)?;
    (quantity.is_whole && quantity.value.abs() < 10_000.0).then_some(quantity.value as i64 * days)
}
