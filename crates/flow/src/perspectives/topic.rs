//! A topic as people write it: a phrase, a question, or a request for a report.

use language::prose::{Language, Prose};
use language::words::is_stop_word;
use notes::text::{capitalize, is_invisible};

/// A longer phrase is shortened where questions repeat it.
const MAX_PHRASE: usize = 120;

/// A longer question is shortened.
const MAX_QUESTION: usize = 160;

/// Words that begin a question if a verb follows: `how do …`, but not `how vaccines work`.
const QUESTION_WORDS: [&str; 10] =
    ["how", "what", "when", "where", "which", "who", "whose", "why", "whether", "to"];

/// Verbs that begin a question.
const AUXILIARIES: [&str; 16] = [
    "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "should", "was",
    "were", "will", "would", "may",
];

/// Of these, those that may begin a phrase too: `can recycling`, `will power`.
const AMBIGUOUS: [&str; 3] = ["can", "may", "will"];

const PREPOSITIONS: [&str; 14] = [
    "about", "among", "and", "at", "between", "by", "for", "from", "in", "of", "on", "or", "to",
    "with",
];

/// What people write before the topic itself, longest first.
const REQUESTS: [&str; 22] = [
    "give me an overview of ",
    "give an overview of ",
    "write a short report about ",
    "write a short report on ",
    "write a report about ",
    "write a report on ",
    "a short report about ",
    "a short report on ",
    "do research about ",
    "do research on ",
    "a report about ",
    "a report on ",
    "research about ",
    "research on ",
    "tell me about ",
    "report about ",
    "report on ",
    "summarise ",
    "summarize ",
    "investigate ",
    "research ",
    "explain ",
];

/// What a report is about, ready to be put into questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topic {
    /// With a capital, for headings.
    pub(super) title: String,
    form: Form,
    pub(super) language: Language,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// `urban heat islands`.
    Phrase(String),
    /// `Should cities ban cars?`
    Question(String),
}

impl Topic {
    /// Reads a topic; the language is that of the documents about it, if it does not show its own.
    pub(super) fn parse(text: &str, documents: Language) -> Self {
        let plain = without_request(&plain(text)).to_owned();
        let german = Language::named("de").filter(|_| is_german(&plain));
        let language = german.unwrap_or(documents);
        let form = if is_question(&plain) {
            Form::Question(question(&plain))
        } else {
            Form::Phrase(lower_article(&shorten(strip_end(&plain), MAX_PHRASE)))
        };
        let title = match &form {
            Form::Question(question) => question.clone(),
            Form::Phrase(_) => capitalize(&shorten(strip_end(&plain), MAX_PHRASE)),
        };
        Self { title, form, language }
    }

    pub(super) fn is_german(&self) -> bool {
        self.language.code() == "de"
    }

    /// A question about the topic. `{t}` in the template is the topic as a noun.
    pub(super) fn ask(&self, template: &str) -> String {
        match &self.form {
            Form::Phrase(phrase) if self.is_german() => {
                format!("{}: {template}", capitalize(phrase))
            }
            Form::Phrase(phrase) => template.replace("{t}", phrase),
            Form::Question(question) => format!("{question} {}", template.replace("{t}", "this")),
        }
    }

    /// A remark about the topic.
    pub(super) fn remark(&self, template: &str) -> String {
        match &self.form {
            Form::Phrase(phrase) => template.replace("{t}", phrase),
            Form::Question(_) => template.replace("{t}", "this question"),
        }
    }

    /// The topic without the punctuation of a question, for comparing words.
    pub(super) fn words(&self) -> &str {
        match &self.form {
            Form::Phrase(text) | Form::Question(text) => text,
        }
    }
}

/// One line without invisible characters, outer quotes and repeated white space.
fn plain(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    let joined = visible
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let quotes = ['"', '“', '”', '„', '«', '»', '\''];
    let inner = joined.strip_prefix(quotes).and_then(|inner| inner.strip_suffix(quotes));
    inner.unwrap_or(&joined).trim().to_owned()
}

/// Whether a few words are German: read as such, or with a letter and a word that English lacks.
fn is_german(text: &str) -> bool {
    const WORDS: [&str; 16] = [
        "am", "an", "auf", "bei", "das", "der", "die", "für", "im", "in", "mit", "und", "vom",
        "von", "zum", "zur",
    ];
    let lower = text.to_lowercase();
    let umlaut = lower.contains(['ä', 'ö', 'ü', 'ß']);
    Prose::read(text).language.map(Language::code) == Some("de")
        || (umlaut && lower.split_whitespace().any(|word| WORDS.contains(&word)))
}

fn without_request(text: &str) -> &str {
    let text = match text.get(..7) {
        Some(start) if start.eq_ignore_ascii_case("please ") => &text[7..],
        _ => text,
    };
    let rest = REQUESTS.iter().find_map(|request| {
        let start = text.get(..request.len())?;
        let rest = text[request.len()..].trim();
        (start.eq_ignore_ascii_case(request) && !rest.is_empty()).then_some(rest)
    });
    // `research methods` is a topic, not a request for one about methods.
    let single = |rest: &&str| !rest.contains(' ') && text.to_lowercase().starts_with("research ");
    rest.filter(|rest| !single(rest)).unwrap_or(text)
}

fn is_question(text: &str) -> bool {
    if text.ends_with(['?', '？']) {
        return true;
    }
    let words: Vec<String> = text.split(' ').take(3).map(str::to_lowercase).collect();
    let [first, second, _] = &words[..] else { return false };
    let auxiliary = |word: &String| AUXILIARIES.contains(&word.as_str());
    let begins = auxiliary(first) && !AMBIGUOUS.contains(&first.as_str());
    begins || (QUESTION_WORDS.contains(&first.as_str()) && auxiliary(second))
}

fn question(text: &str) -> String {
    let text = text.trim_end_matches(['?', '？', '.', '!', ' ']);
    let short = shorten(text, MAX_QUESTION);
    let end = if short.len() < text.len() { "…" } else { "?" };
    format!("{}{end}", capitalize(&short))
}

fn strip_end(text: &str) -> &str {
    let stripped = text.trim_end_matches(['.', ',', ';', ':', '!', '?', '？', '。', ' ']);
    // `C#` and `Node.js` keep their marks; a topic of marks only stays as it is.
    if stripped.is_empty() { text } else { stripped }
}

/// The text up to `most` characters: its first sentence or clause if that is enough, else whole words.
fn shorten(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let cut = &text[..end];
    for mark in [". ", "; ", ": ", " – ", " — ", ", "] {
        if let Some(at) = cut.find(mark).filter(|at| *at >= 24) {
            return cut[..at].to_owned();
        }
    }
    let Some(at) = cut.rfind(' ') else { return cut.to_owned() };
    let mut words: Vec<&str> = cut[..at].split(' ').collect();
    // What follows the last preposition may be incomplete: `in cities of the global`.
    let joins = |word: &&str| PREPOSITIONS.contains(&word.to_lowercase().as_str());
    if let Some(at) = words.iter().rposition(joins).filter(|at| 2 * at > words.len()) {
        words.truncate(at);
    }
    while words.len() > 1 && words.last().is_some_and(|word| is_stop_word(&word.to_lowercase())) {
        words.pop();
    }
    strip_end(&words.join(" ")).to_owned()
}

/// `The history of Rome` in the middle of a sentence; `The Hague` keeps its capital.
fn lower_article(text: &str) -> String {
    let Some((first, rest)) = text.split_once(' ') else { return text.to_owned() };
    let article = ["The", "A", "An", "How", "Why", "What", "When", "Where"].contains(&first);
    if article && !rest.starts_with(char::is_uppercase) {
        format!("{} {rest}", first.to_lowercase())
    } else {
        text.to_owned()
    }
}
