use std::collections::HashMap;
use std::sync::LazyLock;

use crate::prose::stem;

const TABLE: &str = include_str!("topics.txt");

/// The words that speak for a topic.
#[derive(Default)]
struct Topic {
    written: Vec<&'static str>,
    stems: Vec<String>,
}

/// By the stem of each topic's name.
static TOPICS: LazyLock<HashMap<String, Topic>> = LazyLock::new(|| {
    let mut topics: HashMap<String, Topic> = HashMap::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let Some((names, words)) = line.split_once(':') else { continue };
        for name in names.split_whitespace() {
            let topic = topics.entry(stem(name)).or_default();
            topic.written.extend(words.split_whitespace());
            topic.stems.extend(words.split_whitespace().map(stem));
        }
    }
    topics
});

/// The stems that speak for a topic of this name; none if it is not a common one.
pub(super) fn words(name: &str) -> &'static [String] {
    TOPICS.get(name).map_or(&[], |topic| &topic.stems)
}

/// The same words as they are written.
pub(super) fn written(name: &str) -> &'static [&'static str] {
    TOPICS.get(name).map_or(&[], |topic| &topic.written)
}
