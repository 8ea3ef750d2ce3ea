//! Words in one piece of memory: catalogs have thousands of fields, and each has several short lists.

/// A list of words without white space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordList {
    /// Separated by spaces.
    text: Box<str>,
}

impl WordList {
    pub(crate) fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        Self { text: words.join(" ").into_boxed_str() }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.text.split(' ').filter(|word| !word.is_empty())
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.iter().any(|other| other == word)
    }

    pub(crate) fn last(&self) -> Option<&str> {
        self.iter().next_back()
    }

    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }

    /// How many of its words, without those of one or two characters, are in another list.
    pub(crate) fn shared(&self, has: impl Fn(&str) -> bool) -> usize {
        self.iter().filter(|word| word.len() > 2 && has(word)).count()
    }
}
