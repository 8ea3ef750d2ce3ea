//! English function words.

/// Sorted, folded English function words.
const STOP: [&str; 134] = [
    "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are",
    "aren", "as", "at", "be", "been", "before", "being", "below", "between", "both", "but", "by",
    "can", "could", "d", "did", "do", "does", "doing", "don", "down", "during", "each", "else",
    "few", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers",
    "him", "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "just", "ll", "m",
    "may", "me", "might", "mine", "more", "most", "must", "my", "myself", "no", "nor", "not", "o",
    "of", "off", "on", "once", "only", "onto", "or", "other", "our", "ours", "out", "over", "own",
    "re", "s", "same", "shall", "she", "should", "so", "some", "such", "t", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "up", "us", "ve", "very", "was", "we", "were", "what", "when", "where", "which",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Whether a folded word is an English function word, which says nothing about a tool.
pub fn is_stop_word(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{STOP, is_stop_word};

    #[test]
    fn the_list_can_be_searched() {
        assert!(STOP.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("you") && !is_stop_word("weather"));
    }
}
