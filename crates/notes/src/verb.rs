//! Whether an English text has a finite verb: headings and fragments have none.

use language::prose::Language;

/// Longer texts are sentences, whatever their verb is.
const SHORT: usize = 14;

/// Verbs whose forms have no ending that shows them.
const FORMS: [&str; 85] = [
    "am",
    "are",
    "became",
    "become",
    "began",
    "begin",
    "brought",
    "built",
    "came",
    "can",
    "cannot",
    "caught",
    "come",
    "cost",
    "could",
    "cut",
    "did",
    "do",
    "does",
    "drew",
    "fall",
    "fell",
    "felt",
    "found",
    "gave",
    "get",
    "give",
    "go",
    "got",
    "grew",
    "grow",
    "had",
    "has",
    "have",
    "held",
    "hit",
    "is",
    "keep",
    "kept",
    "lay",
    "lead",
    "led",
    "left",
    "lie",
    "live",
    "lost",
    "made",
    "make",
    "may",
    "mean",
    "met",
    "might",
    "must",
    "need",
    "paid",
    "put",
    "ran",
    "rose",
    "said",
    "sank",
    "saw",
    "sent",
    "set",
    "shall",
    "should",
    "show",
    "shut",
    "sold",
    "spent",
    "spread",
    "stay",
    "take",
    "tend",
    "thought",
    "took",
    "turn",
    "understood",
    "use",
    "was",
    "went",
    "were",
    "will",
    "won",
    "would",
    "wrote",
];

/// Stems of verbs that describe: each occurs as it is, or with `s`, `es`.
const VERBS: [&str; 96] = [
    "absorb",
    "accept",
    "account",
    "affect",
    "agree",
    "allow",
    "appear",
    "apply",
    "arise",
    "avoid",
    "believe",
    "benefit",
    "block",
    "break",
    "bring",
    "burn",
    "call",
    "carry",
    "cause",
    "change",
    "claim",
    "collect",
    "combine",
    "compare",
    "consist",
    "contain",
    "contribute",
    "cool",
    "correct",
    "cover",
    "create",
    "decrease",
    "define",
    "depend",
    "describe",
    "differ",
    "drink",
    "drive",
    "ease",
    "exceed",
    "exist",
    "expect",
    "expire",
    "explain",
    "face",
    "fail",
    "feel",
    "find",
    "fit",
    "fly",
    "follow",
    "form",
    "happen",
    "heat",
    "help",
    "hold",
    "improve",
    "include",
    "increase",
    "indicate",
    "kill",
    "know",
    "last",
    "let",
    "lower",
    "matter",
    "measure",
    "move",
    "occur",
    "offer",
    "produce",
    "protect",
    "prove",
    "provide",
    "raise",
    "reach",
    "read",
    "receive",
    "reduce",
    "reflect",
    "remain",
    "remove",
    "require",
    "rise",
    "run",
    "save",
    "see",
    "store",
    "suffer",
    "suggest",
    "trap",
    "travel",
    "treat",
    "vary",
    "warm",
    "work",
];

/// Finite verbs of German that show in any form of a text.
const GERMAN: [&str; 22] = [
    "ist", "sind", "war", "waren", "wird", "werden", "wurde", "wurden", "hat", "haben", "kann",
    "können", "muss", "müssen", "gibt", "liegt", "zeigt", "zeigen", "kostet", "kosten", "braucht",
    "brauchen",
];

/// Words after a verb that could be a noun as well.
const OBJECTS: [&str; 12] =
    ["a", "an", "down", "its", "less", "more", "on", "our", "the", "their", "these", "up"];

/// The second word of headings such as `History of the bicycle`. Only such texts need a verb that is known here.
const PREPOSITIONS: [&str; 8] = ["after", "for", "in", "of", "on", "to", "with", "without"];

/// Whether a text may be a sentence: it is long, or it does not begin like a heading, or one of its words is a
/// finite verb.
pub(super) fn may_have_verb(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let begins_as_heading =
        words.get(1).is_some_and(|second| PREPOSITIONS.contains(&second.as_str()));
    let is_verb = |at: usize| {
        let before = at.checked_sub(1).map(|before| words[before].as_str());
        before != Some("to") && is_finite(&words[at], words.get(at + 1).map(String::as_str))
    };
    let foreign = || Language::detect(text).is_some_and(|found| found != Language::ENGLISH);
    !begins_as_heading || foreign() || words.len() >= SHORT || (0..words.len()).any(is_verb)
}

fn is_finite(word: &str, next: Option<&str>) -> bool {
    let contracted = word.contains(['\'', '’']) && word.ends_with('t');
    let past = word.len() > 4 && word.ends_with("ed");
    let third = || word.strip_suffix('s');
    let is_verb = |stem: &str| {
        VERBS.contains(&stem) || VERBS.iter().any(|verb| verb.strip_suffix('e') == Some(stem))
    };
    contracted
        || past
        || FORMS.contains(&word)
        || GERMAN.contains(&word)
        // `heat the water`, but `heat island`.
        || (is_verb(word) && next.is_some_and(|next| OBJECTS.contains(&next)))
        || third().is_some_and(|stem| is_verb(stem) || FORMS.contains(&stem))
        || word.strip_suffix("es").is_some_and(is_verb)
        || word.strip_suffix("ies").is_some_and(|stem| VERBS.contains(&format!("{stem}y").as_str()))
}
