//! References by what citations name: labels, names, years and titles.

use std::collections::{BTreeMap, BTreeSet};

use language::words;

use crate::parse::{Form, Name, Reference};

/// How many references of one name are compared.
const MAX_CANDIDATES: usize = 200;
/// How many references without authors are found by their title.
const MAX_UNNAMED: usize = 1_000;

/// A reference with its label.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) label: Option<&'a str>,
    pub(crate) reference: &'a Reference,
}

/// Finds references by label, or by names and year.
pub(crate) struct Index<'a> {
    entries: Vec<Entry<'a>>,
    labels: BTreeMap<String, usize>,
    /// Labels of footnotes that are notes, not references.
    notes: BTreeSet<String>,
    largest_number: usize,
    /// By the key of the first name, or of a title without a name.
    names: BTreeMap<String, Vec<usize>>,
    /// Keys of all names of each reference.
    families: Vec<Vec<String>>,
    titles: Vec<String>,
    /// References without authors, with the key of their container.
    unnamed: Vec<(usize, String)>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(entries: Vec<Entry<'a>>, notes: BTreeSet<String>) -> Self {
        let mut index = Self {
            labels: BTreeMap::new(),
            notes,
            largest_number: 0,
            unnamed: Vec::new(),
            names: BTreeMap::new(),
            families: Vec::with_capacity(entries.len()),
            titles: Vec::with_capacity(entries.len()),
            entries: Vec::new(),
        };
        for (at, entry) in entries.iter().enumerate() {
            if let Some(label) = entry.label {
                index.labels.entry(label.to_owned()).or_insert(at);
            }
            let names = &entry.reference.names;
            if let Some(first) = names.first() {
                for key in keys(first) {
                    index.names.entry(key).or_default().push(at);
                }
            }
            index.families.push(names.iter().take(50).map(|name| key(&name.family)).collect());
            index.titles.push(entry.reference.parsed.title.as_deref().map(key).unwrap_or_default());
            if names.is_empty() && index.unnamed.len() < MAX_UNNAMED {
                let container =
                    entry.reference.parsed.container.as_deref().map(key).unwrap_or_default();
                index.unnamed.push((at, container));
            }
        }
        let numbers = index.labels.keys().filter_map(|label| label.parse().ok());
        index.largest_number = numbers.max().unwrap_or(entries.len());
        index.entries = entries;
        index
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn count(&self, form: Form) -> usize {
        self.entries.iter().filter(|entry| entry.reference.form == form).count()
    }

    /// References without a year.
    pub(crate) fn undated(&self) -> BTreeSet<usize> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| entry.reference.parsed.year.is_none())
            .map(|(at, _)| at)
            .collect()
    }

    pub(crate) fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Whether a footnote is a note and no reference.
    pub(crate) fn is_note(&self, label: &str) -> bool {
        self.notes.contains(label)
    }

    pub(crate) fn footnote(&self, label: &str) -> Option<usize> {
        self.labels.get(label).copied()
    }

    /// The reference of a number; by position, if no reference has a label.
    pub(crate) fn number(&self, number: usize) -> Option<usize> {
        if self.labels.is_empty() {
            return number.checked_sub(1).filter(|at| *at < self.entries.len());
        }
        self.labels.get(&number.to_string()).copied()
    }

    /// The largest label that is a number, or the number of references.
    pub(crate) fn largest_number(&self) -> usize {
        self.largest_number
    }

    /// The reference of names and a year.
    pub(crate) fn find(&self, names: &[String], et_al: bool, year: &str) -> Option<usize> {
        let first = key(names.first()?);
        let mut best: Option<(u32, usize)> = None;
        for at in self.candidates(&first) {
            let Some(fit) = self.fit(at, names, et_al, year) else { continue };
            if best.is_none_or(|(other, _)| fit > other) {
                best = Some((fit, at));
            }
        }
        best.map(|(_, at)| at).or_else(|| self.by_title(&names.join(" "), Some(year)))
    }

    fn candidates(&self, key: &str) -> Vec<usize> {
        self.names
            .get(key)
            .map(|found| found.iter().take(MAX_CANDIDATES).copied().collect())
            .unwrap_or_default()
    }

    /// How well a reference fits; none if it does not.
    fn fit(&self, at: usize, names: &[String], et_al: bool, year: &str) -> Option<u32> {
        let entry = &self.entries[at];
        let year_fit = match &entry.reference.parsed.year {
            None => 1,
            Some(known) => year_fit(known, year)?,
        };
        let families = &self.families[at];
        let second_fits = match names.get(1).map(|name| key(name)) {
            None => true,
            Some(second) => families.iter().skip(1).any(|family| same_name(family, &second)),
        };
        // An organisation has a name with `and`.
        let organisation = entry.reference.names.first().is_some_and(Name::is_organisation);
        if !second_fits && !organisation {
            return None;
        }
        let count_fits = if et_al { families.len() > 2 } else { families.len() == names.len() };
        Some(year_fit * 4 + u32::from(count_fits) * 2 + u32::from(second_fits))
    }

    /// The reference whose first author has this name, whatever the year: for MLA, and for messages.
    pub(crate) fn by_name(&self, names: &[String], title: Option<&str>) -> Option<usize> {
        let first = key(names.first()?);
        let candidates = self.candidates(&first);
        let second = names.get(1).map(|name| key(name));
        let fits = |at: &&usize| {
            let families = &self.families[**at];
            second.as_ref().is_none_or(|second| {
                families.iter().skip(1).any(|family| same_name(family, second))
            })
        };
        let titled = title.map(key).and_then(|title| {
            candidates
                .iter()
                .filter(fits)
                .find(|at| !title.is_empty() && self.titles[**at].contains(&title))
        });
        titled
            .or_else(|| candidates.iter().find(fits))
            .copied()
            .or_else(|| self.by_title(&names.join(" "), None))
    }

    /// The reference without an author whose title begins so.
    pub(crate) fn by_title(&self, words: &str, year: Option<&str>) -> Option<usize> {
        let start_key = key(words);
        if start_key.chars().count() < 4 {
            return None;
        }
        let fits = |(at, container): &&(usize, String)| {
            let dated = match (year, &self.entries[*at].reference.parsed.year) {
                (Some(year), Some(known)) => year_fit(known, year).is_some(),
                _ => true,
            };
            dated && (self.titles[*at].starts_with(&start_key) || *container == start_key)
        };
        self.unnamed.iter().find(fits).map(|(at, _)| *at)
    }

    /// The reference whose title begins so, by any author.
    pub(crate) fn of_title(&self, words: &str) -> Option<usize> {
        let start = key(words);
        let long = start.chars().count() >= 4;
        let mut titles = self.titles.iter().take(MAX_UNNAMED);
        long.then(|| titles.position(|title| title.starts_with(&start))).flatten()
    }

    /// A reference with the first name of a citation that fits none.
    pub(crate) fn suggestion(&self, shown: &str) -> Option<usize> {
        let name = shown.split([',', '&']).next().unwrap_or_default();
        let name = name.split(" and ").next().unwrap_or_default().trim_end_matches(" et al.");
        self.of_name(name).first().copied()
    }

    /// The references whose first author has this name.
    pub(crate) fn of_name(&self, name: &str) -> &[usize] {
        self.names.get(&key(name)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// What a name is compared by: its characters and digits in lower case, without accents.
fn key(name: &str) -> String {
    let folded = words::fold(name.trim().trim_start_matches("The ").trim_start_matches("the "));
    folded
        .chars()
        .filter(|c| c.is_alphanumeric())
        .take(200)
        .collect::<String>()
        .replace('ø', "o")
        .replace('ł', "l")
}

/// The keys that a first author is found by.
fn keys(name: &Name) -> Vec<String> {
    let mut keys = vec![key(&name.family)];
    let words: Vec<&str> =
        name.family.split([' ', '\u{a0}']).filter(|word| !word.is_empty()).collect();
    if name.is_organisation() {
        // `World Health Organization [WHO]` and the acronym itself.
        if let Some((full, rest)) = name.family.split_once(['[', '(']) {
            keys.push(key(full));
            keys.push(key(rest.trim_end_matches([']', ')'])));
        }
        let capitals: String = words
            .iter()
            .filter_map(|word| word.chars().next())
            .filter(|c| c.is_uppercase())
            .collect();
        if capitals.chars().count() >= 2 {
            keys.push(key(&capitals));
        }
        if let Some(rest) = ["U.S. ", "US ", "U.K. ", "UK ", "United States "]
            .iter()
            .find_map(|country| name.family.strip_prefix(country))
        {
            keys.push(key(rest));
            let capitals: String = rest
                .split(' ')
                .filter_map(|word| word.chars().next())
                .filter(|c| c.is_uppercase())
                .collect();
            keys.push(key(&capitals));
            keys.push(key(&format!("us{capitals}")));
        }
        // A person as `Jane Doe`.
        if (2..=3).contains(&words.len()) {
            keys.extend(words.last().map(|word| key(word)));
        }
    } else if words.len() > 1 {
        // `van der Berg` is also cited as `Berg`; double names are not cut.
        if words[..words.len() - 1]
            .iter()
            .all(|word| word.chars().next().is_some_and(char::is_lowercase))
        {
            keys.extend(words.last().map(|word| key(word)));
        }
    }
    // `Berg, A. van der` is cited as `van der Berg`.
    let particles: Vec<&str> = name
        .given
        .split(' ')
        .filter(|word| word.chars().next().is_some_and(char::is_lowercase))
        .collect();
    if !particles.is_empty() {
        keys.push(key(&format!("{} {}", particles.join(" "), name.family)));
    }
    keys.retain(|key| !key.is_empty());
    keys.sort();
    keys.dedup();
    keys
}

fn same_name(known: &str, cited: &str) -> bool {
    known == cited
        || cited.chars().count() > 3 && known.ends_with(cited)
        || known.chars().count() > 3 && cited.ends_with(known)
}

/// 2 for the same year, 1 if only the suffix differs.
fn year_fit(known: &str, cited: &str) -> Option<u32> {
    if known.eq_ignore_ascii_case(cited) {
        return Some(2);
    }
    let base = |year: &str| year.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_owned();
    let suffix = |year: &str| year.len() > base(year).len();
    let any = known.split(['/', '–', '-']).any(|one| {
        cited.split(['/', '–', '-']).any(|other| {
            let same = !base(one).is_empty() && base(one) == base(other);
            // `2020a` and `2020b` are two works.
            same && !(suffix(one) && suffix(other) && one != other)
        })
    });
    any.then_some(1)
}
