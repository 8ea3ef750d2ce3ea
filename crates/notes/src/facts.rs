//! What a sentence states, for finding sentences that say the same and those that cannot both be true: different numbers
//! for one thing, opposite directions, or a negation.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use language::prose::Language;
use language::words::words;

use super::intent::{content_stems, stem_in};
use super::quantity::{Quantity, YEAR, quantities};
use super::stems::{Stems, Vocabulary};

/// What two claims must share to be about one thing.
const LEAST_SHARED: usize = 3;

/// More different words on one side say that the claims are about different things.
const MOST_MORE: usize = 7;

/// Words that say who found something, or how, but not what.
const NEUTRAL: &str = "find found finding show showed shown study studies trial report reported survey review \
    reviews meta analysis analyses research researcher researchers author authors suggest suggests \
    conclude concluded estimate estimated average averages typical typically about only just roughly \
    generally often usually according recent later earlier large small new field data result results \
    percent percentage observe observed measure measured reach reaches work works real world year \
    years actual actually many most experts evidence claim claims say says modern other long term \
    amount amounts account accounts total newer latest median observe came come become became remain \
    ergab ergaben zeigte zeigt studie studien umfrage bericht laut etwa rund durchschnitt \
    durchschnittlich mittel beträgt liegt lag neue neuer neuere ergebnis prozent jahr jahre \
    meist oft fachleute experten angaben";

const UP: &str = "increase increases increased raise raises raised rise rises rose grow grows grew higher \
    more improve improves improved boost boosts gain faster greater steigt stieg steigen erhöht \
    wächst wuchs mehr höher schneller verbessert";

const DOWN: &str = "decrease decreases decreased reduce reduces reduced lower lowers lowered cut cuts decline \
    declines declined fall falls fell less fewer worsen worsens worsened slower smaller drop drops \
    sinkt sank sinken senkt verringert fällt fiel weniger niedriger langsamer";

/// Events that happen once, so that two years contradict each other.
const ONCE: &str = "first invented introduced founded began coined released published discovered described \
    patented opened standardized proposed launched started ended closed abolished ratified stopped \
    stellte eingestellt startete gestartet endete beendet abgeschafft erfunden erfand eingeführt gegründet eröffnet \
    veröffentlicht erstmals patentiert";

const NEGATIONS: [&str; 15] = [
    "not", "no", "never", "cannot", "neither", "nor", "kein", "keine", "keinen", "keinem",
    "keiner", "keines", "nicht", "nie", "niemals",
];

/// How a clause begins that says who states the rest: `…, says the operator of a resort.`
const ATTRIBUTIONS: [&str; 24] = [
    "according to ",
    "argue ",
    "argues ",
    "as reported ",
    "claim ",
    "claims ",
    "report ",
    "reports ",
    "said ",
    "say ",
    "says ",
    "writes ",
    "behauptet ",
    "berichtet ",
    "heißt es ",
    "laut ",
    "meint ",
    "meldet ",
    "sagt ",
    "schreibt ",
    "so der ",
    "so die ",
    "so ein",
    "verspricht ",
];

/// How such a clause ends, and how many words it has at most.
const CLAIMS: [&str; 10] = [
    " argues",
    " behauptet",
    " claim",
    " claims",
    " meint",
    " reports",
    " sagt",
    " said",
    " says",
    " warns",
];
const MOST_CLAIMANT: usize = 7;

/// The stems of the lists above in a language.
struct Stemmed {
    neutral: HashSet<String>,
    up: HashSet<String>,
    down: HashSet<String>,
    once: HashSet<String>,
}

impl Stemmed {
    fn new(language: Language) -> Self {
        let of = |list: &str| -> HashSet<String> {
            list.split_whitespace().flat_map(words).map(|word| stem_in(&word, language)).collect()
        };
        let (up, down) = (of(UP), of(DOWN));
        let neutral = of(NEUTRAL).into_iter().chain(up.iter().chain(&down).cloned()).collect();
        Self { neutral, up, down, once: of(ONCE) }
    }

    fn get(language: Language) -> &'static Self {
        static ENGLISH: LazyLock<Stemmed> = LazyLock::new(|| Stemmed::new(Language::ENGLISH));
        static GERMAN: LazyLock<Stemmed> =
            LazyLock::new(|| Stemmed::new(Language::named("de").unwrap_or(Language::ENGLISH)));
        if language.code() == "de" { &GERMAN } else { &ENGLISH }
    }
}

/// The parts of a claim that are compared.
#[derive(Debug, Default)]
pub struct Facts {
    /// The stems of its subject.
    core: Stems,
    quantities: BTreeMap<String, Vec<Quantity>>,
    /// All numbers as written.
    numbers: BTreeSet<String>,
    /// Places and names that limit it: `in Berlin`.
    limits: BTreeSet<String>,
    negated: bool,
    up: bool,
    down: bool,
    once: bool,
    /// Whether its last clause says who states it.
    attributed: bool,
}

/// Why two claims contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    Numbers,
    Direction,
    Negation,
}

impl Facts {
    pub fn read(text: &str, vocabulary: &mut Vocabulary) -> Self {
        let language = vocabulary.language();
        let stemmed = Stemmed::get(language);
        let whole = text;
        let text = without_attribution(text);
        let content = content_stems(text, language);
        let has = |set: &HashSet<String>| content.iter().any(|stem| set.contains(stem));
        let mut by_unit: BTreeMap<String, Vec<Quantity>> = BTreeMap::new();
        for quantity in quantities(text) {
            by_unit.entry(quantity.unit.clone()).or_default().push(quantity);
        }
        let core: Vec<String> = content
            .iter()
            .filter(|stem| !stemmed.neutral.contains(*stem))
            .filter(|stem| !stem.starts_with(|c: char| c.is_ascii_digit()))
            .filter(|stem| !by_unit.contains_key(*stem))
            .cloned()
            .collect();
        let comparative: HashSet<String> =
            words(text).iter().map(|word| stem_in(word, language)).collect();
        let moves = |set: &HashSet<String>| comparative.iter().any(|stem| set.contains(stem));
        Self {
            core: vocabulary.number(&core),
            numbers: numbers(text),
            limits: limits(text),
            attributed: text.len() < whole.len(),
            negated: is_negated(text),
            up: moves(&stemmed.up),
            down: moves(&stemmed.down),
            once: has(&stemmed.once),
            quantities: by_unit,
        }
    }

    fn years(&self) -> &[Quantity] {
        self.quantities.get(YEAR).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Facts {
    /// Whether the source says whose claim it is. A source can report such claims that contradict each other.
    pub fn is_attributed(&self) -> bool {
        self.attributed
    }

    /// Whether numbers, negation and direction are the same, so that equal words mean the same.
    pub fn fit(&self, other: &Self) -> bool {
        let numbers =
            self.numbers.is_subset(&other.numbers) || other.numbers.is_subset(&self.numbers);
        let one_way = |facts: &Self| facts.up != facts.down;
        let opposite = one_way(self) && one_way(other) && self.up != other.up;
        numbers && self.negated == other.negated && !opposite
    }
}

/// Why two claims cannot both be true, if they are about one thing.
pub fn conflict(a: &Facts, b: &Facts) -> Option<Conflict> {
    let shared = a.core.shared(&b.core);
    let (more_a, more_b) = (a.core.len() - shared, b.core.len() - shared);
    // Short claims must be about exactly the same.
    let equal = more_a == 0 && more_b == 0;
    let one_thing = shared >= if equal { LEAST_SHARED - 1 } else { LEAST_SHARED }
        && more_a.min(more_b) == 0
        && more_a.max(more_b) <= MOST_MORE.min(2 * shared);
    if !one_thing || a.limits != b.limits {
        return None;
    }
    let other_years =
        !a.years().is_empty() && !b.years().is_empty() && disagree(a.years(), b.years());
    let numbers = a.quantities.iter().filter(|(unit, _)| *unit != YEAR).any(|(unit, values)| {
        b.quantities.get(unit).is_some_and(|others| disagree(values, others))
    });
    let only_years = a.quantities.len() == 1 && b.quantities.len() == 1;
    if (numbers && !other_years) || (other_years && only_years && a.once && b.once) {
        return Some(Conflict::Numbers);
    }
    let one_way = |facts: &Facts| facts.up != facts.down;
    if one_way(a) && one_way(b) && a.up != b.up && a.negated == b.negated {
        return Some(Conflict::Direction);
    }
    let same_way = (a.up, a.down) == (b.up, b.down) || !one_way(a) || !one_way(b);
    let enough = shared > LEAST_SHARED || (equal && shared == LEAST_SHARED);
    (a.negated != b.negated && same_way && enough).then_some(Conflict::Negation)
}

/// The claim without a last clause that says whose it is.
fn without_attribution(text: &str) -> &str {
    let Some((claim, last)) = text.rsplit_once(", ") else { return text };
    let lower = last.to_lowercase();
    let begins = ATTRIBUTIONS.iter().any(|start| lower.starts_with(start));
    // `…, a fishing association claims.`
    let short = last.split_whitespace().nth(MOST_CLAIMANT).is_none();
    let end = lower.trim_end_matches(['.', '!', '"', '”']);
    let ends = short && CLAIMS.iter().any(|verb| end.ends_with(verb));
    if begins || ends { claim } else { text }
}

fn disagree(values: &[Quantity], others: &[Quantity]) -> bool {
    !values.iter().any(|value| others.iter().any(|other| value.agrees(other)))
}

fn is_negated(text: &str) -> bool {
    let lower = text.to_lowercase().replace("not only", "").replace("no more than", "");
    let lower = lower.replace("whether or not", "");
    lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.'))
        .any(|word| NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t"))
}

/// Names after a preposition.
fn limits(text: &str) -> BTreeSet<String> {
    let prepositions = ["in", "at", "near", "across", "for", "of"];
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    words
        .windows(2)
        .filter(|pair| prepositions.contains(&pair[0].to_lowercase().as_str()))
        .filter(|pair| pair[1].starts_with(char::is_uppercase))
        .map(|pair| pair[1].to_lowercase())
        .collect()
}

fn numbers(text: &str) -> BTreeSet<String> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '–' | '-' | '(' | ')'))
        .filter(|word| {
            word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '$' | '€' | '£'))
        })
        .map(|word| word.trim_matches(|c: char| !c.is_ascii_digit()).to_owned())
        .collect()
}
