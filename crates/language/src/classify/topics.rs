use std::collections::HashMap;
use std::sync::LazyLock;

use crate::prose::stem;

const TABLE: &str = include_str!("topics.txt");

/// For the stem of each topic's name, the stems that speak for it.
static TOPICS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut topics: HashMap<String, Vec<String>> = HashMap::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let Some((names, words)) = line.split_once(':') else { continue };
        let words: Vec<String> = words.split_whitespace().map(stem).collect();
        for name in names.split_whitespace() {
            topics.entry(stem(name)).or_default().extend(words.iter().cloned());
        }
    }
    topics
});

/// The stems that speak for a topic of this name; none if it is not a common one.
pub(super) fn words(name: &str) -> &'static [String] {
    TOPICS.get(name).map_or(&[], Vec::as_slice)
}
