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

/// Where the words of each letter start; one more than there are letters.
const STARTS: [u8; 27] = {
    let mut starts = [0; 27];
    let mut word = 0;
    while word < STOP.len() {
        starts[(STOP[word].as_bytes()[0] - b'a') as usize + 1] += 1;
        word += 1;
    }
    let mut letter = 0;
    while letter < 26 {
        starts[letter + 1] += starts[letter];
        letter += 1;
    }
    starts
};

/// Whether a folded word is an English function word, which says nothing about a tool.
pub fn is_stop_word(word: &str) -> bool {
    let Some(letter) = word.bytes().next().filter(u8::is_ascii_lowercase) else { return false };
    let letter = usize::from(letter - b'a');
    let (from, to) = (usize::from(STARTS[letter]), usize::from(STARTS[letter + 1]));
    STOP[from..to].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::{STOP, is_stop_word};

    #[test]
    fn the_list_can_be_searched() {
        assert!(STOP.is_sorted());
        assert!(STOP.iter().all(|word| is_stop_word(word)));
        assert!(!is_stop_word("weather") && !is_stop_word("") && !is_stop_word("über"));
    }
}
