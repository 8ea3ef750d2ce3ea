//! Makes a sentence readable without the ones before it, or rejects it.

use language::words::fold;

use super::intent::is_function_word;
use super::text::capitalize;

/// Words and phrases that link a sentence to the one before. They are removed.
const CONNECTIVES: [&str; 62] = [
    "accordingly,",
    "additionally,",
    "after all,",
    "also,",
    "and",
    "as a consequence,",
    "as a result,",
    "as such,",
    "besides,",
    "but",
    "by comparison,",
    "by contrast,",
    "consequently,",
    "conversely,",
    "crucially,",
    "finally,",
    "first,",
    "firstly,",
    "for example,",
    "for instance,",
    "for this reason,",
    "for these reasons,",
    "fortunately,",
    "further,",
    "furthermore,",
    "however,",
    "importantly,",
    "in addition,",
    "in conclusion,",
    "in contrast,",
    "in fact,",
    "in other words,",
    "in particular,",
    "in short,",
    "in summary,",
    "in that case,",
    "in turn,",
    "indeed,",
    "instead,",
    "likewise,",
    "meanwhile,",
    "moreover,",
    "nevertheless,",
    "nonetheless,",
    "notably,",
    "of course,",
    "on the contrary,",
    "on the other hand,",
    "on the one hand,",
    "otherwise,",
    "overall,",
    "second,",
    "secondly,",
    "similarly,",
    "so,",
    "still,",
    "that said,",
    "then,",
    "therefore,",
    "third,",
    "thus,",
    "unsurprisingly,",
];

/// German ones: the verb follows them, so that such a sentence is rejected rather than repaired.
const GERMAN_CONNECTIVES: [&str; 24] = [
    "allerdings",
    "außerdem",
    "daher",
    "dagegen",
    "darum",
    "deshalb",
    "dennoch",
    "jedoch",
    "hingegen",
    "zudem",
    "somit",
    "trotzdem",
    "also",
    "dann",
    "danach",
    "darüber",
    "demnach",
    "denn",
    "dort",
    "folglich",
    "hierbei",
    "insgesamt",
    "seitdem",
    "sonst",
];

/// Words that attribute a finding; the citation replaces them.
const ATTRIBUTIONS: [&str; 20] = [
    "we found that ",
    "we find that ",
    "we show that ",
    "we conclude that ",
    "we observed that ",
    "our results show that ",
    "our results indicate that ",
    "our findings suggest that ",
    "the results show that ",
    "the results indicate that ",
    "the results suggest that ",
    "these results show that ",
    "it should be noted that ",
    "it is worth noting that ",
    "the authors conclude that ",
    "the authors found that ",
    "the study found that ",
    "the study concludes that ",
    "the study showed that ",
    "researchers found that ",
];

/// Words that refer to a sentence before, where they begin one.
const POINTERS: [&str; 37] = [
    "it", "its", "they", "their", "them", "he", "she", "his", "her", "this", "that", "these",
    "those", "such", "both", "either", "neither", "another", "others", "here", "same", "former",
    "latter", "er", "sie", "es", "dies", "diese", "dieser", "dieses", "diesen", "jene", "dabei",
    "dadurch", "damit", "ihre", "seine",
];

/// Words that refer to something near where they occur in the first words.
const NEAR: [&str; 8] = ["this", "these", "those", "such", "diese", "diesem", "diesen", "dieser"];

/// Repairs a plain sentence so that it can be read alone; none if it cannot.
pub(crate) fn readable(sentence: &str) -> Option<String> {
    let mut text = sentence.trim();
    for _ in 0..2 {
        text = without_connective(text);
    }
    if let Some(rest) = strip_any(text, &ATTRIBUTIONS) {
        text = rest;
    }
    let text = capitalize(&without_links(text));
    (!points_back(&text)).then_some(text)
}

fn without_connective(text: &str) -> &str {
    let lower = lower_start(text);
    for connective in CONNECTIVES {
        let Some(rest) = lower.strip_prefix(connective) else { continue };
        // `But` and `And` have no comma; `Butter` is a word.
        if !rest.starts_with(' ') || !text.is_char_boundary(connective.len()) {
            continue;
        }
        return text[connective.len()..].trim_start();
    }
    text
}

/// The sentence without words in its middle that refer to the one before.
fn without_links(text: &str) -> String {
    text.replace(", however,", "").replace(", therefore,", "").replace(" therefore ", " ")
}

fn strip_any<'a>(text: &'a str, starts: &[&str]) -> Option<&'a str> {
    let lower = lower_start(text);
    let start = starts.iter().find(|start| lower.starts_with(*start))?;
    text.get(start.len()..)
}

/// The beginning in lower case. ASCII only, so that positions are equal.
fn lower_start(text: &str) -> String {
    let end = text.floor_char_boundary(64);
    text[..end].to_ascii_lowercase()
}

/// Whether the reader would ask who or which is spoken of.
fn points_back(text: &str) -> bool {
    let words: Vec<String> = text
        .split_whitespace()
        .take(12)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let Some(first) = words.first() else { return true };
    let first = first.split(['\'', '’']).next().unwrap_or_default();
    if GERMAN_CONNECTIVES.contains(&first) {
        return true;
    }
    if ["i", "we", "my", "our", "ich", "wir"].contains(&first) {
        return true;
    }
    // `In Berlin galten sie als verboten.`
    let inverted = words.iter().take(4).any(|word| ["sie", "er"].contains(&word.as_str()));
    if inverted || names_nothing_before_pronoun(&words) || names_no_group(&words) || is_same(&words)
    {
        return true;
    }
    if POINTERS.contains(&first) {
        return !(is_expletive(&words) || both_and(&words));
    }
    let article =
        ["the", "in", "at", "on", "for", "with", "of", "by", "under", "from", "one", "all"];
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    let third = words.get(2).map(String::as_str).unwrap_or_default();
    if first == "the"
        && ["former", "latter", "same", "other", "others", "two", "second"].contains(&second)
    {
        return true;
    }
    let then = ["by", "since", "until", "from", "after", "before", "at"].contains(&first)
        && ["then", "that"].contains(&second);
    let one =
        first == "one" && ["said", "was", "is", "found", "has", "had", "of"].contains(&second);
    if then || (one && third != "the") {
        return true;
    }
    if first == "other" || first == "others" || first == "similar" {
        return true;
    }
    article.contains(&first)
        && (NEAR.contains(&second) || (NEAR.contains(&third) && ["of", "all"].contains(&second)))
}

/// Pronouns that need a noun before them.
const PRONOUNS: [&str; 17] = [
    "it", "its", "they", "them", "their", "he", "him", "she", "davon", "dafür", "daran", "darauf",
    "dazu", "ihnen", "deren", "dessen", "ihm",
];

/// Words that are no noun to which a pronoun could refer, besides function words and numbers.
const QUANTIFIERS: [&str; 25] = [
    "half",
    "third",
    "quarter",
    "most",
    "some",
    "many",
    "several",
    "few",
    "none",
    "each",
    "percent",
    "part",
    "rest",
    "together",
    "nevertheless",
    "unlike",
    "without",
    "despite",
    "hälfte",
    "drittel",
    "viertel",
    "viele",
    "einige",
    "prozent",
    "teil",
];

/// Whether a pronoun comes before any noun: `In 2014 it published …`, `Half of them …`.
fn names_nothing_before_pronoun(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| PRONOUNS.contains(&word.as_str())) else {
        return false;
    };
    let names = |word: &String| {
        !word.starts_with(|c: char| c.is_ascii_digit())
            && !is_function_word(&fold(word))
            && !QUANTIFIERS.contains(&word.as_str())
    };
    at > 0 && !words[..at].iter().any(names) && !is_expletive(&words[at..])
}

/// Whether `them` comes before any word in the plural: `Jane Doe introduced them in 1961.`
fn names_no_group(words: &[String]) -> bool {
    let plural = |word: &String| {
        (word.ends_with('s') && word.len() > 3 && !is_function_word(&fold(word)))
            || ["and", "people", "children", "women", "men"].contains(&word.as_str())
    };
    words.iter().position(|word| word == "them").is_some_and(|at| !words[..at].iter().any(plural))
}

/// Whether something is `the same` as in the sentence before: `at the same shop`, but not `at the same time`.
fn is_same(words: &[String]) -> bool {
    words.windows(3).any(|three| {
        three[0] == "the"
            && three[1] == "same"
            && !["time", "as", "way"].contains(&three[2].as_str())
    })
}

/// `It is estimated that …`, `It is possible to …`.
fn is_expletive(words: &[String]) -> bool {
    let verb = words.get(1).map(String::as_str).unwrap_or_default();
    // `It is mixed with clay to …` is no such sentence: between the verb and `that` are an adjective and what it is for.
    words[0] == "it"
        && ["is", "was", "has", "takes", "took"].contains(&verb)
        && words.iter().take(7).skip(2).any(|word| word == "that" || word == "to")
        && !words
            .iter()
            .take(5)
            .skip(2)
            .any(|word| ["with", "by", "in", "into"].contains(&word.as_str()))
}

/// `Both heat pumps and boilers …` names what it is about.
fn both_and(words: &[String]) -> bool {
    let partner = match words[0].as_str() {
        "both" => "and",
        "either" => "or",
        "neither" => "nor",
        _ => return false,
    };
    words.iter().skip(2).any(|word| word == partner)
        && !["of", "are", "were", "have"].contains(&words[1].as_str())
}
