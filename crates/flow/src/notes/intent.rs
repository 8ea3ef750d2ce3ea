//! What kind of answer a question asks for, and the words by which such answers are recognised.

use std::collections::HashSet;
use std::sync::LazyLock;

use language::words::{stem, words};

use super::quantity::{YEAR, quantities};

/// A kind of answer.
struct Kind {
    /// Words of a question that asks for it.
    asked: &'static str,
    /// Words of sentences that give it.
    cues: &'static str,
    /// Whether a number with a unit gives it.
    numbers: bool,
    /// Whether a year gives it.
    years: bool,
}

const KINDS: [Kind; 13] = [
    Kind {
        asked: "history first began origin origins early past timeline century originally \
                historical changed turning geschichte anfänge fing früher wendepunkte",
        cues: "first began begin origin originally early earlier history historically century \
               decade since invented introduced founded coined pioneer pioneered discovered \
               described proposed adopted published released former formerly traced dates \
               standardized patented revived zuerst erstmals seit jahrhundert erfunden eingeführt \
               gegründet damals",
        numbers: false,
        years: true,
    },
    Kind {
        asked: "method methods measure measured measurement methodology approach approaches \
                technique tools standards account methoden messung gemessen verfahren",
        cues: "measure measured measurement method sensor sampling sample survey model simulation \
               estimate calculated calculate test tested trial protocol standard analysis analyse \
               analyze compare compared monitor monitoring record recorded instrument index \
               randomized benchmark metric assess assessed technique procedure messen gemessen \
               verfahren modell umfrage norm",
        numbers: false,
        years: false,
    },
    Kind {
        asked: "practice works practical mistakes implementation put dealing praxis bewährt",
        cues: "practice install installed installation apply applied recommend recommended \
               configure combine combined effective reduce improve avoid mistake planning \
               maintain maintenance praxis",
        numbers: false,
        years: false,
    },
    Kind {
        asked: "who affected equity fair fairer fairness poor rich income burdens burden benefits \
                groups vulnerable loses gains betroffen arm gerecht gruppen",
        cues: "income poor poorer rich wealthy household tenant renter elderly older children \
               women minority community neighbourhood neighborhood resident worker vulnerable \
               access afford affordable inequality unequal unfair equity burden benefit gain lose \
               disadvantaged rural disability low-income uninsured district race colour black \
               einkommen arm reich mieter haushalt kinder ältere zugang",
        numbers: false,
        years: false,
    },
    Kind {
        asked: "evidence results conclude findings reviews trial consistent strong proof belege \
                studien ergebnisse langzeitstudien",
        cues: "study studies trial review meta-analysis evidence found finding showed shown \
               reported result data percent confirmed analysis participants measured field \
               experiment cohort average observed studie ergab zeigte prozent",
        numbers: true,
        years: false,
    },
    Kind {
        asked: "uncertain disputed unknown open contradict differ limits disagreement unclear \
                remains limitations ungewiss umstritten widersprechen grenzen",
        cues: "uncertain uncertainty unclear unknown disputed debate debated disagree controversy \
               controversial limited limitation however remains lack missing varies vary depends \
               open critics inconclusive mixed conflicting contradict poorly doubt ungewiss \
               unklar umstritten",
        numbers: false,
        years: false,
    },
    Kind {
        asked: "figures figure size large many much numbers percent often likely zahlen viele",
        cues: "percent average about roughly approximately total rate share ratio prozent etwa",
        numbers: true,
        years: false,
    },
    Kind {
        asked: "cost costs price prices economic economics money pays savings returns funding \
                subsidies incentives budget kosten preise geld bezahlt förderung",
        cues: "cost price pay paid bill subsidy grant tax savings save saved saving expensive \
               cheap cheaper euro euros dollar dollars budget invest investment loan fund \
               funding payback fee market kosten preis euro zuschuss steuer",
        numbers: true,
        years: false,
    },
    Kind {
        asked: "law laws legal rules regulation liable liability policy court rights enforced",
        cues: "law act regulation directive rule require required ban banned licence license \
               permit court liable liability legal illegal mandatory obligation policy ministry \
               government comply compliance right gesetz verordnung pflicht",
        numbers: false,
        years: false,
    },
    Kind {
        asked: "risk risks safety danger harm harms failures accidents problems side effects",
        cues: "risk danger dangerous hazard harm fail failure failed accident injury leak attack \
               vulnerability warning death damage adverse bleeding side unsafe problem error \
               bug exploit mistake outage risiko gefahr schaden",
        numbers: false,
        years: false,
    },
    Kind {
        asked: "environment environmental climate emissions resources nature sustainability",
        cues: "emission carbon climate greenhouse energy waste water soil pollution ecosystem \
               species recycling refrigerant renewable footprint klima umwelt",
        numbers: false,
        years: false,
    },
    Kind {
        asked: "future outlook expected trends forecast next promising developments",
        cues: "future expect expected forecast project projected plan planned target trend grow \
               growing will could goal develop zukunft künftig",
        numbers: false,
        years: true,
    },
    Kind {
        asked: "why cause causes reason drive drives factors warum ursache",
        cues: "because cause caused due reason result lead leads factor driven explain explained \
               weil ursache",
        numbers: false,
        years: false,
    },
];

/// Words of questions that say nothing about the topic.
const FRAME: &str = "attention turn people person thing case context connection regard term terms matter \
    matters best main most important importance role play plays describe described show shows \
    known know exist exists use used usual using work works change changed come comes came get \
    thinking views time tried deal dealing wrong right present compare good better well recent \
    year years say says said make made think question questions answer answers find found need \
    needed apply applies keep outcome outcomes effect effects discussion decision decisions \
    between different difference past public source sources claim claims clearly institution \
    institutions shaped experts expert study studies country countries region regions like long-term long term \
    happen happens give given way ways kind kinds thema rolle";

static EMPTY_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(FRAME).collect());

/// Stems of questions that do not name the topic.
static FRAME_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| stems(FRAME).chain(KINDS.iter().flat_map(|kind| stems(kind.asked))).collect());

/// What a question asks for.
#[derive(Debug, Default)]
pub(crate) struct Intent {
    cues: HashSet<String>,
    numbers: bool,
    years: bool,
}

impl Intent {
    pub(crate) fn of(question: &str) -> Self {
        let asked: HashSet<String> = words(question).iter().map(|word| stem(word)).collect();
        let mut intent = Self::default();
        for kind in &KINDS {
            if stems(kind.asked).any(|word| asked.contains(&word)) {
                intent.cues.extend(stems(kind.cues));
                intent.numbers |= kind.numbers;
                intent.years |= kind.years;
            }
        }
        intent.numbers |= question.to_lowercase().contains("how much");
        intent
    }

    /// Whether the question asks for a kind of answer that can be recognised.
    pub(crate) fn is_known(&self) -> bool {
        !self.cues.is_empty()
    }

    /// How far a sentence looks like an answer, from 0 to 1.
    pub(crate) fn fit(&self, sentence: &str, stems: &[String]) -> f64 {
        let mut signs = stems.iter().filter(|stem| self.cues.contains(*stem)).count();
        if self.numbers || self.years {
            let found = quantities(sentence);
            let years = found.iter().filter(|quantity| quantity.unit == YEAR).count();
            signs += usize::from(self.numbers && found.len() > years);
            signs += if self.years && years > 0 { 2 } else { 0 };
        }
        (signs.min(3) as f64) / 3.0
    }
}

/// The stems of a question without those that say nothing, such as `role` and `people`.
pub(crate) fn asked_stems(question: &str) -> Vec<String> {
    let content = content_stems(question);
    let asked: Vec<String> =
        content.iter().filter(|word| !EMPTY_STEMS.contains(*word)).cloned().collect();
    if asked.is_empty() { content } else { asked }
}

/// The stems of a question that name its topic rather than what is asked about it.
pub(crate) fn topic_stems(question: &str) -> Vec<String> {
    let content = content_stems(question);
    let topic: Vec<String> =
        content.iter().filter(|word| !FRAME_STEMS.contains(*word)).cloned().collect();
    // A question of such words only is about them.
    if topic.is_empty() { content } else { topic }
}

/// The different stems of a text's content words, in order.
pub(crate) fn content_stems(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    content_words(text).into_iter().filter(|word| seen.insert(word.clone())).collect()
}

/// The stems of a text's content words, in order.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    words(text)
        .into_iter()
        .filter(|word| word.chars().nth(1).is_some() && !is_function_word(word))
        .map(|word| stem(&word))
        .collect()
}

/// Function words of English and German.
fn is_function_word(word: &str) -> bool {
    language::words::is_stop_word(word)
        || ["en", "de"].iter().any(|code| {
            language::prose::Language::named(code).is_some_and(|language| language.has(word))
        })
}

fn stems(list: &'static str) -> impl Iterator<Item = String> {
    list.split_whitespace().flat_map(words).map(|word| stem(&word))
}
