//! Words that are broken at the end of a line.

use std::collections::HashSet;

/// Words that are written with a hyphen within a line of this document, in lower case.
#[derive(Debug, Default)]
pub(super) struct Compounds(HashSet<String>);

impl Compounds {
    pub(super) fn add(&mut self, line: &str) {
        if !line.contains('-') {
            return;
        }
        for word in line.split_whitespace().map(trim) {
            if word.len() < 64 && word.trim_matches('-').contains('-') {
                self.0.insert(word.trim_matches('-').to_lowercase());
            }
        }
    }

    /// Joins words that are broken at the end of a line; the end of such a word moves up to its start.
    pub(super) fn join(&self, lines: &[String]) -> Vec<String> {
        let mut joined: Vec<String> = Vec::with_capacity(lines.len());
        for line in lines {
            match joined.last_mut() {
                Some(last) if is_broken(last, line) => {
                    let line = line.trim_start();
                    let (end, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
                    if !self.keeps_hyphen(last, end) {
                        last.pop();
                    }
                    last.push_str(end);
                    if !rest.trim().is_empty() {
                        joined.push(rest.to_owned());
                    }
                }
                _ => joined.push(line.clone()),
            }
        }
        joined
    }

    fn keeps_hyphen(&self, start: &str, end: &str) -> bool {
        if start.ends_with('\u{ad}') {
            return false;
        }
        let start = start.rsplit(char::is_whitespace).next().unwrap_or_default();
        let word = format!("{}{}", trim(start), trim(end)).replace('\u{2010}', "-").to_lowercase();
        !end.starts_with(char::is_lowercase) || self.0.contains(&word)
    }
}

fn trim(word: &str) -> &str {
    word.trim_matches(|it: char| !it.is_alphanumeric() && it != '-' && it != '\u{2010}')
}

fn is_broken(line: &str, next: &str) -> bool {
    let Some(start) = line.strip_suffix(['-', '\u{ad}', '\u{2010}']) else { return false };
    start.ends_with(char::is_alphanumeric) && next.trim_start().starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::Compounds;

    fn join(lines: &[&str], known: &str) -> String {
        let mut compounds = Compounds::default();
        compounds.add(known);
        compounds.join(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()).join("\n")
    }

    #[test]
    fn a_broken_word_is_joined() {
        assert_eq!(join(&["the admin-", "istration says"], ""), "the administration\nsays");
        assert_eq!(join(&["ques\u{ad}", "tion"], ""), "question");
        assert_eq!(join(&["three-", "part", "end"], ""), "threepart\nend");
        assert_eq!(join(&["a con-", "struc-", "tion site"], ""), "a construction\nsite");
    }

    #[test]
    fn a_hyphen_of_the_word_itself_stays() {
        assert_eq!(
            join(&["a well-", "known author"], "the well-known name"),
            "a well-known\nauthor"
        );
        assert_eq!(join(&["Anglo-", "Saxon"], ""), "Anglo-Saxon");
        assert_eq!(join(&["2020-", "2021 report"], ""), "2020-2021\nreport");
        assert_eq!(join(&["a dash -", "here"], ""), "a dash -\nhere");
        assert_eq!(join(&["ends-"], ""), "ends-");
    }
}
