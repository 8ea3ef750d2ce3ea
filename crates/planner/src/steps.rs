//! Splits a request into steps, each of which asks for one thing.

mod foreign;
mod hand_on;
mod prohibited;

use language::verbs::{begins_action, follows_verb, is_verb};
use language::words::{is_stop_word, stem, words};

use crate::mention::{IdKind, Mention, Written};
use crate::tool::{LOOKUPS, is_changing, is_destroying, stems};

pub(crate) use hand_on::with_product;
use hand_on::{keeps, without_product};
pub(crate) use prohibited::{masked, prohibited};

/// The most steps of one request that are planned; what follows is one more step.
pub(crate) const MAX_STEPS: usize = 16;

const TURNS: [&str; 7] =
    ["then", "afterwards", "finally", "additionally", "also", "next", "lastly"];
const QUESTIONS: [&str; 8] = ["what", "how", "who", "when", "where", "which", "why", "is"];
const REQUESTS: [&str; 6] = ["i", "please", "help", "can", "could", "let"];
const PRONOUNS: [&str; 8] = ["it", "them", "its", "their", "this", "result", "results", "output"];

/// Verbs that are seldom asked for, sorted.
const EXTRA_VERBS: [&str; 24] = [
    "approve", "archive", "checkout", "clone", "commit", "crawl", "disable", "enable", "forget",
    "lock", "memorize", "ping", "push", "reject", "remember", "restart", "restore", "revert",
    "stage", "switch", "undo", "unlock", "unstage", "unzip",
];
/// Those of them that are also nouns, sorted.
const EXTRA_NOUNS: [&str; 7] = ["archive", "clone", "commit", "lock", "push", "stage", "switch"];

/// Whether a word is one of the verbs that are seldom asked for.
fn is_extra_verb(word: &str) -> bool {
    EXTRA_VERBS.binary_search(&word).is_ok()
}

/// Whether such a verb asks for something before this next word, which is `None` at the end and before a value.
fn begins_extra_action(word: &str, next: Option<&str>) -> bool {
    let follows = |next: &str| {
        follows_verb(next)
            || matches!(next, "with" | "into" | "on" | "as" | "from" | "everything" | "both")
    };
    is_extra_verb(word) && (EXTRA_NOUNS.binary_search(&word).is_err() || next.is_some_and(follows))
}

/// Words before what a search is for.
const TOPIC_WORDS: [&str; 5] = ["for", "about", "on", "regarding", "concerning"];
/// The longest topic, in bytes.
const MAX_TOPIC: usize = 200;

/// Bytes of the request that say what a search is for.
pub(crate) type Topic = std::ops::Range<usize>;

/// One step of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// Byte ranges of the text.
    pub(crate) ranges: Vec<(usize, usize)>,
    /// What tools are searched for: the text without values that say nothing about a tool.
    pub(crate) query: String,
    /// Stems of the words outside of quotes.
    pub(crate) stems: Vec<String>,
    /// Those that only a name has: `Boston` says little about a tool.
    pub(crate) name_stems: Vec<String>,
    /// The stem of the word that asks for something.
    pub(crate) verb: Option<String>,
    /// Whether it asks to look something up.
    pub(crate) looks_up: bool,
    /// Whether it asks to change or to keep something.
    pub(crate) changes: bool,
    /// Whether it asks to take something away.
    pub(crate) destroys: bool,
    /// Whether it only wants to know something: it looks something up, or is a question.
    pub(crate) only_asks: bool,
    /// Whether it refers to something earlier without naming it.
    pub(crate) has_pronoun: bool,
    /// Words of what the pronoun refers to, where the request has them.
    pub(crate) product: Vec<String>,
    /// The values that it contains.
    pub(crate) mentions: Vec<usize>,
}

/// A word outside of values.
struct Token<'a> {
    start: usize,
    end: usize,
    text: &'a str,
    lower: String,
    /// Whether a sentence ended since the word or value before.
    after_stop: bool,
    after_comma: bool,
    /// Whether a value is between it and the word before.
    after_value: bool,
    /// Whether a file or an address follows at once.
    before_address: bool,
}

/// The steps of a request, in order; at least one.
pub(crate) fn steps(text: &str, mentions: &[Mention]) -> Vec<Step> {
    let tokens = tokens(text, mentions);
    let mut starts = vec![0];
    for place in 1..tokens.len() {
        if let Some(start) = boundary(&tokens, place)
            && starts.last().is_some_and(|last| start > *last)
        {
            starts.push(start);
        }
    }
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (place, &start) in starts.iter().enumerate() {
        let end = starts.get(place + 1).copied().unwrap_or(text.len());
        let asks = asks_for_something(&tokens, start, end);
        let is_full = ranges.len() > MAX_STEPS;
        match ranges.last_mut() {
            Some(last) if !asks || is_full => last.1 = end,
            _ => ranges.push((start, end)),
        }
    }
    // Words before the first request belong to it.
    if let [first, second, ..] = ranges[..]
        && !asks_for_something(&tokens, first.0, first.1)
    {
        ranges[1] = (first.0, second.1);
        ranges.remove(0);
    }
    let parts = ranges.into_iter().flat_map(|range| without_product(&tokens, range));
    parts.map(|ranges| Step::new(text, &ranges, mentions)).collect()
}

impl Step {
    /// The step of these parts of a request.
    pub(crate) fn new(text: &str, ranges: &[(usize, usize)], mentions: &[Mention]) -> Self {
        let within = |at: usize| ranges.iter().any(|(start, end)| (*start..*end).contains(&at));
        let own: Vec<usize> =
            (0..mentions.len()).filter(|&place| within(mentions[place].start)).collect();
        let (mut query, mut plain, mut names) = (String::new(), String::new(), String::new());
        for &(start, end) in ranges {
            let mut at = start;
            for mention in mentions.iter().filter(|m| m.start >= start && m.end <= end) {
                query.push_str(&text[at..mention.start]);
                plain.push_str(&text[at..mention.start]);
                query.push_str(topic_words_of(mention));
                names.push_str(topic_words_of(mention));
                [&mut query, &mut plain, &mut names].into_iter().for_each(|text| text.push(' '));
                at = mention.end;
            }
            query.push_str(&text[at..end]);
            plain.push_str(&text[at..end]);
            [&mut query, &mut plain].into_iter().for_each(|text| text.push(' '));
        }
        let has_pronoun = query
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| PRONOUNS.contains(&word.to_ascii_lowercase().as_str()));
        if own.iter().any(|&place| mentions[place].value == Written::Url) {
            query.push_str(" url");
        }
        let mut name_stems = stems(&names);
        let outside = stems(&plain);
        name_stems.retain(|stem| !outside.contains(stem));
        let verb = verb(&plain);
        let looks_up = verb.as_ref().is_some_and(|verb| LOOKUPS.contains(&verb.as_str()));
        Self {
            ranges: ranges.to_vec(),
            stems: stems(&query),
            changes: verb.as_ref().is_some_and(|verb| is_changing(verb) || keeps(verb)),
            destroys: verb.as_ref().is_some_and(|verb| is_destroying(verb)),
            only_asks: looks_up || verb.as_deref().is_some_and(examines) || is_question(&plain),
            query,
            name_stems,
            looks_up,
            verb: verb.map(|verb| stem(&verb)),
            has_pronoun,
            product: Vec::new(),
            mentions: own,
        }
    }

    /// Whether it only asks what an earlier step has given: `tell me what it says`.
    pub(crate) fn only_reports(&self) -> bool {
        const REPORTS: [&str; 10] =
            ["tell", "say", "show", "give", "know", "let", "mean", "contain", "result", "see"];
        self.has_pronoun
            && self.mentions.is_empty()
            && self.stems.iter().all(|word| REPORTS.iter().any(|report| stem(report) == *word))
    }

    /// Whether it has a word with this stem.
    pub(crate) fn says(&self, stem: &str) -> bool {
        self.stems.iter().any(|own| own == stem)
    }

    /// What follows `for`, `about` or `on`, up to the next comma.
    pub(crate) fn topic(&self, text: &str) -> Option<Topic> {
        let &(from, to) = self.ranges.first()?;
        let part = &text[from..to];
        let word_end =
            |at: usize| part[at..].find(char::is_whitespace).map_or(to - from, |n| at + n);
        let starts = part.match_indices(char::is_whitespace).map(|(at, gap)| at + gap.len());
        let preposition = starts.into_iter().find(|&at| {
            TOPIC_WORDS.contains(&part[at..word_end(at)].to_ascii_lowercase().as_str())
        })?;
        let rest = part[word_end(preposition)..].trim_start();
        let start = to - rest.len();
        let end = rest.find([',', ';', '.', '!', '?', ':', '\n']).unwrap_or(rest.len());
        let phrase = rest[..end].trim_end();
        let phrase = phrase.strip_suffix(" and").unwrap_or(phrase);
        let first = phrase.split(char::is_whitespace).next()?.to_ascii_lowercase();
        let is_pronoun =
            PRONOUNS.contains(&first.as_str()) || matches!(first.as_str(), "me" | "us");
        let is_topic = !is_pronoun && phrase.len() <= MAX_TOPIC && !stems(phrase).is_empty();
        is_topic.then(|| start..start + phrase.len())
    }

    /// Both steps as one.
    pub(crate) fn joined(&self, other: &Self, text: &str, mentions: &[Mention]) -> Self {
        let mut ranges = self.ranges.clone();
        ranges.extend(&other.ranges);
        Self::new(text, &ranges, mentions)
    }
}

/// The first verb of a text or, without one, its first word of content.
fn verb(text: &str) -> Option<String> {
    let words: Vec<String> = words(text).into_iter().filter(|word| !is_stop_word(word)).collect();
    let asks = |word: &&String| is_verb(word);
    // `stage` and the like ask for something where they come first.
    let verb = match words.first() {
        Some(first) if is_extra_verb(first) => Some(first),
        first => words.iter().find(asks).or(first),
    };
    verb.cloned()
}

/// Whether a verb asks to look at something closely.
fn examines(verb: &str) -> bool {
    matches!(
        verb,
        "compare"
            | "tell"
            | "count"
            | "analyze"
            | "analyse"
            | "explain"
            | "inspect"
            | "display"
            | "print"
    )
}

/// Whether a text is a question, or asks what something is.
fn is_question(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.find(|word| {
        let word = word.to_lowercase();
        !matches!(word.as_str(), "and" | "then" | "please" | "tell" | "me")
    });
    first.is_some_and(|word| {
        let word = word.to_lowercase();
        QUESTIONS.contains(&word.as_str())
            || matches!(word.as_str(), "are" | "was" | "were" | "did" | "does" | "has" | "whether")
    })
}

/// Names and the types of files tell what a request is about; quotes, numbers, dates and `Europe/London` do not.
fn topic_words_of(mention: &Mention) -> &str {
    match mention.value {
        Written::Name if !mention.quoted && !mention.text.contains('/') => &mention.text,
        Written::FileType(_) => &mention.text,
        Written::Id(IdKind::File) => "file",
        Written::Path => mention.text.rsplit_once('.').map_or("", |(_, extension)| {
            let known = FILE_TYPES.iter().find(|(extensions, _)| extensions.contains(&extension));
            known.map_or(extension, |(_, words)| words)
        }),
        _ => "",
    }
}

/// What files are by their extension, where the extension itself does not say it.
const FILE_TYPES: [(&[&str], &str); 3] = [
    (&["png", "jpg", "jpeg", "gif", "webp", "bmp", "svg"], "image"),
    (&["mp3", "wav", "ogg", "flac", "m4a"], "audio"),
    (&["mp4", "mov", "avi", "mkv", "webm"], "video"),
];

fn tokens<'a>(text: &'a str, mentions: &[Mention]) -> Vec<Token<'a>> {
    let mut tokens: Vec<Token<'a>> = Vec::new();
    let mut gaps: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for mention in mentions {
        gaps.push((at, mention.start));
        at = mention.end;
    }
    gaps.push((at, text.len()));
    // The end of the word or value before.
    let mut last = 0;
    for (number, &(from, to)) in gaps.iter().enumerate() {
        let mut after_value = number > 0;
        let mut start = None;
        let ends = text[from..to].char_indices().map(|(i, c)| (from + i, c)).chain([(to, ' ')]);
        for (i, c) in ends {
            if c.is_alphanumeric() || c == '\'' && start.is_some() {
                start.get_or_insert(i);
            } else if let Some(start) = start.take() {
                let gap = &text[last..start];
                let word = &text[start..i];
                tokens.push(Token {
                    start,
                    end: i,
                    text: word,
                    lower: word.to_lowercase(),
                    after_stop: gap.contains(['.', '!', '?', ';', '\n', '。', '！', '？', '；']),
                    after_comma: gap.contains([',', '，', '、']),
                    after_value,
                    before_address: mentions.get(number).is_some_and(|mention| {
                        matches!(mention.value, Written::Path | Written::Url | Written::Id(_))
                            && text[i..mention.start].trim().is_empty()
                    }),
                });
                last = i;
                after_value = false;
            }
        }
        last = mentions.get(number).map_or(last, |mention| mention.end);
    }
    tokens
}

/// Where a step starts if one starts at this word.
fn boundary(tokens: &[Token<'_>], place: usize) -> Option<usize> {
    let (before, token) = (&tokens[place - 1], &tokens[place]);
    let next = tokens.get(place + 1);
    let after_and = before.lower == "and" && !token.after_value;
    let start = if after_and { before.start } else { token.start };
    if token.after_stop {
        return Some(token.start);
    }
    if TURNS.contains(&token.lower.as_str())
        || token.lower == "after" && next.is_some_and(|next| next.lower == "that")
    {
        return Some(start);
    }
    let follows = |next: Option<&Token<'_>>| {
        next.filter(|next| !next.after_value).map(|next| next.lower.clone())
    };
    if after_and || token.after_comma {
        let next = follows(next);
        let acts = begins_action(&token.lower, next.as_deref())
            || begins_extra_action(&token.lower, next.as_deref());
        let requests = after_and && REQUESTS.contains(&token.lower.as_str());
        // `and commit them`: whatever the word is, it is a verb.
        let takes_pronoun =
            matches!(next.as_deref(), Some("it" | "them")) && !is_stop_word(&token.lower);
        // `and move a.txt`
        let takes_address =
            token.before_address && (is_verb(&token.lower) || is_extra_verb(&token.lower));
        if acts || requests || takes_pronoun || takes_address {
            return Some(start);
        }
    }
    None
}

fn asks_for_something(tokens: &[Token<'_>], start: usize, end: usize) -> bool {
    let own: Vec<&Token<'_>> =
        tokens.iter().filter(|token| token.start >= start && token.end <= end).collect();
    let Some(first) = own.first() else { return false };
    if QUESTIONS.contains(&first.lower.as_str()) {
        return true;
    }
    // `Then undo the run`: the first word before an article is a verb, whichever it is.
    let mut lead = own.iter().skip_while(|token| {
        TURNS.contains(&token.lower.as_str()) || matches!(token.lower.as_str(), "and" | "please")
    });
    if let (Some(word), Some(next)) = (lead.next(), lead.next())
        && !is_stop_word(&word.lower)
        && !next.after_value
        && follows_verb(&next.lower)
    {
        return true;
    }
    own.iter().take(9).enumerate().any(|(place, token)| {
        let next = own.get(place + 1).filter(|next| !next.after_value);
        // Nouns that are also verbs ask for something where they stand first, or after `to`.
        let opens_clause = token.after_comma || token.text.starts_with(char::is_uppercase);
        let leads = place == 0 && opens_clause
            || place > 0
                && matches!(
                    own[place - 1].lower.as_str(),
                    "to" | "and" | "then" | "please" | "me" | "you"
                );
        let next = next.map(|next| next.lower.as_str());
        let opens = place == 0 && is_extra_verb(&token.lower) && next.is_none_or(is_stop_word);
        let extra = leads && (opens || begins_extra_action(&token.lower, next));
        extra
            || is_verb(&token.lower)
                && (leads || token.before_address || begins_action(&token.lower, next))
    })
}
