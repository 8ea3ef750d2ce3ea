//! What kind of answer a question asks for, and the words by which such answers are recognised.

use std::collections::HashSet;
use std::sync::LazyLock;

use language::prose::Language;
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
    /// How many signs an answer needs that does not name the topic.
    least: usize,
}

const KINDS: [Kind; 13] = [
    Kind {
        asked: "history first began origin origins early past timeline century originally \
                historical changed turning geschichte anfänge fing früher wendepunkte gewandelt \
                vorreiter",
        cues: "first began begin origin originally early earlier history historically century \
               decade since invented introduced founded coined pioneer pioneered discovered \
               described proposed adopted published released former formerly traced dates \
               patented revived zuerst erstmals erste ersten seit jahrhundert \
               erfunden erfand eingeführt gegründet damals früher anfangs jahrzehnt lange \
               ursprünglich entstand begann verabschiedet veröffentlicht",
        numbers: false,
        years: true,
        least: 2,
    },
    Kind {
        asked: "method methods measure measured measurement methodology approach approaches \
                technique tools standards account methoden messung gemessen verfahren untersucht \
                normen richtlinien werkzeuge",
        cues: "measure measured measurement method sensor sampling sample survey model simulation \
               estimate calculated calculate test tested trial protocol standard analysis analyse \
               analyze compare compared meter monitor monitoring record recorded instrument index \
               randomized benchmark metric assess assessed technique procedure messen misst \
               gemessen messung verfahren methode modell umfrage norm simuliert geschätzt schätzen \
               berechnet verglichen vergleich untersucht untersuchung stromzähler stichprobe versuch \
               sensoren protokoll erfasst befragt befragten",
        numbers: false,
        years: false,
        least: 1,
    },
    Kind {
        asked: "practice works practical mistakes implementation put dealing praxis bewährt",
        cues: "practice install installed installation apply applied recommend recommended \
               configure combine combined effective reduce improve avoid mistake planning \
               maintain maintenance praxis bewährt einbau eingebaut empfehlen empfohlen wirksam \
               senkt verringert vermeiden planung wartung angeschlossen anschluss aufgestellt",
        numbers: false,
        years: false,
        least: 1,
    },
    Kind {
        asked: "who affected equity fair fairer fairness poor rich income burdens burden benefits \
                groups vulnerable loses gains betroffen arm gerecht gerechtigkeit gruppen nutzen \
                lasten gewinnt verliert",
        cues: "income poor poorer rich wealthy household tenant renter elderly older children \
               women minority community neighbourhood neighborhood resident vulnerable \
               access afford affordable inequality unequal unfair equity burden benefit gain lose \
               disadvantaged employee rural disability low-income uninsured district race colour black \
               depend people family families fisher farmer local migrant \
               einkommen arm ärmer reich mieter vermieter haushalt kinder ältere zugang frauen \
               familien bewohner menschen leisten bezahlbar ungleich gerecht benachteiligt \
               profitieren ländlich behinderung anspruch",
        numbers: false,
        years: false,
        least: 1,
    },
    Kind {
        asked: "evidence results conclude findings reviews trial consistent strong proof belege \
                studien ergebnisse langzeitstudien messungen",
        cues: "study studies trial review meta-analysis evidence found finding showed shown \
               reported result data percent confirmed analysis participants measured field \
               experiment cohort average observed studie studien ergab ergaben zeigte zeigten \
               zeigen prozent belegt beleg daten ergebnis fanden mittel durchschnitt gemessen \
               umfrage befragten bestätigt",
        numbers: true,
        years: false,
        least: 2,
    },
    Kind {
        asked: "uncertain disputed unknown open contradict differ limits disagreement unclear \
                remains limitations ungewiss umstritten widersprechen grenzen",
        cues: "uncertain uncertainty unclear unknown disputed debate debated disagree controversy \
               controversial limited limitation however remains lack missing varies vary depends \
               open critics inconclusive mixed conflicting contradict poorly doubt ungewiss \
               unklar umstritten unbekannt offen strittig fehlen fehlt kritiker zweifel \
               widersprechen unsicher bezweifeln",
        numbers: false,
        years: false,
        least: 1,
    },
    Kind {
        asked: "figures figure size large many much numbers percent often likely zahlen viele",
        cues: "percent average about roughly approximately total rate share ratio prozent etwa \
               rund anteil insgesamt durchschnitt mittel",
        numbers: true,
        years: false,
        least: 1,
    },
    Kind {
        asked: "cost costs price prices economic economics money pays savings returns funding \
                subsidies incentives budget kosten kostet preise geld bezahlt förderung ersparnis \
                ausgaben abgaben wirtschaftliche",
        cues: "cost price pay paid bill subsidy grant tax savings save saved saving expensive \
               cheap cheaper euro euros dollar dollars budget invest investment loan fund \
               funding payback fee market kosten kostet preis zuschuss steuer zahlen zahlt \
               bezahlt spart ersparnis teuer billig günstig gefördert förderung rechnung markt \
               gebühr mehrwertsteuer vergütung cent",
        numbers: true,
        years: false,
        least: 1,
    },
    Kind {
        asked: "law laws legal rules regulation liable liability policy court rights enforced \
                recht rechtlich gesetz gesetze vorschriften haftet haftung gerichte pflichten",
        cues: "law act regulation directive rule require required ban banned licence license \
               permit court liable liability legal illegal mandatory obligation policy ministry \
               government comply compliance right gesetz verordnung pflicht erlaubt erlaubte \
               verboten verbot vorschrift recht anspruch gericht haftung genehmigung anmeldung \
               zustimmung grenze zulässig norm",
        numbers: false,
        years: false,
        least: 1,
    },
    Kind {
        asked: "risk risks safety danger harm harms failures accidents problems side \
                risiken gefahren sicherheit schäden unfälle probleme",
        cues: "risk danger dangerous hazard harm fail failure failed accident injury leak attack \
               vulnerability warning death damage adverse bleeding side unsafe problem error \
               bug exploit mistake outage risiko risiken gefahr gefährlich brandgefahr schaden \
               schäden unfall ausfall warnen warnung sicher brand verletzt fehler problem",
        numbers: false,
        years: false,
        least: 1,
    },
    Kind {
        asked: "environment environmental climate emissions resources nature sustainability \
                umwelt klima emissionen rohstoffe",
        cues: "emission carbon climate greenhouse energy waste water soil pollution ecosystem \
               species recycling refrigerant renewable footprint klima umwelt emissionen energie \
               abfall wasser boden rohstoffe herstellung treibhausgas ökobilanz arten",
        numbers: false,
        years: false,
        least: 1,
    },
    Kind {
        asked: "future outlook expected trends forecast next promising developments zukunft \
                erwartet entwicklungen prognosen",
        cues: "future expect expected forecast project projected plan planned target trend grow \
               growing will could goal develop zukunft künftig erwarten erwartet prognose ziel \
               geplant soll sollen wachsen wächst wird könnte",
        numbers: false,
        years: true,
        least: 1,
    },
    Kind {
        asked: "why cause causes reason drive drives factors ursache ursachen treibt",
        cues: "because cause caused due reason result lead leads factor driven explain explained \
               weil ursache grund deshalb liegt führt",
        numbers: false,
        years: false,
        least: 1,
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
    happen happens give given way ways kind kinds part parts area areas number point points thema rolle welche welchen welcher welches gab gibt fragen \
    gegeben menschen einrichtungen entwicklung geprägt denken darüber wirkung wirkungen stark \
    stärksten verteilt ergebnissen führen sagen einheitlich gebraucht wichtigsten unter \
    gesichtspunkt werden wurde beste besten deutlichsten gestützt";

/// Words that begin a period in the past, and verbs in a past tense without `ed`.
const PAST: &str = "was were became began built made took came went had grew led held sold brought wrote broke \
    drew fell rose gave found spent won war waren wurde wurden hatte hatten galt galten kam kamen gab \
    stieg stiegen begann entstand erhielt führte erlaubte verkaufte baute fuhr fuhren lag lagen \
    stand standen ließ ließen nahm nahmen übernahm übernahmen ging gingen lief liefen trat traten \
    schloss schlossen verlor verloren fiel fielen sank sanken schrieb schrieben blieb blieben zog zogen";

/// German words that end like a verb in the past.
const NO_PAST: [&str; 24] = [
    "dritte",
    "dritten",
    "dürfte",
    "dürften",
    "ersten",
    "erste",
    "gesamte",
    "gesamten",
    "heute",
    "höchsten",
    "könnte",
    "könnten",
    "letzte",
    "letzten",
    "meisten",
    "möchte",
    "möchten",
    "müsste",
    "müssten",
    "nächsten",
    "sollte",
    "sollten",
    "zweite",
    "zweiten",
];

/// Verbs in the present.
const PRESENT: [&str; 12] =
    ["is", "are", "be", "been", "do", "does", "has", "have", "can", "will", "ist", "sind"];

/// The lists above in one language, as stems.
struct Stemmed {
    language: Language,
    /// Stems that say nothing.
    empty: HashSet<String>,
    /// Stems of questions that do not name the topic.
    frame: HashSet<String>,
    kinds: Vec<StemmedKind>,
}

struct StemmedKind {
    asked: HashSet<String>,
    cues: HashSet<String>,
}

impl Stemmed {
    fn new(language: Language) -> Self {
        let of = |list: &str| -> HashSet<String> {
            let words = list.split_whitespace().flat_map(words);
            words.map(|word| stem_in(&word, language)).collect()
        };
        let kinds: Vec<StemmedKind> = KINDS
            .iter()
            .map(|kind| StemmedKind { asked: of(kind.asked), cues: of(kind.cues) })
            .collect();
        let empty = of(FRAME);
        let asked = kinds.iter().flat_map(|kind| kind.asked.iter().cloned());
        let frame = empty.iter().cloned().chain(asked).collect();
        Self { language, empty, frame, kinds }
    }

    fn get(language: Language) -> &'static Self {
        static ENGLISH: LazyLock<Stemmed> = LazyLock::new(|| Stemmed::new(Language::ENGLISH));
        static GERMAN: LazyLock<Stemmed> =
            LazyLock::new(|| Stemmed::new(Language::named("de").unwrap_or(Language::ENGLISH)));
        if language.code() == GERMAN.language.code() { &GERMAN } else { &ENGLISH }
    }
}

/// The language in which questions and sentences are compared: that of the question, or of the texts if the question does
/// not show one. Languages without words of their own here are read like English.
pub fn language_of<'a>(question: &str, mut texts: impl Iterator<Item = &'a str>) -> Language {
    let german = |text: &str| Language::detect(text).filter(|found| found.code() == "de");
    match Language::detect(question) {
        Some(found) if found.code() == "de" => found,
        Some(found) if found == Language::ENGLISH => found,
        _ => texts.find_map(german).unwrap_or(Language::ENGLISH),
    }
}

/// The stem of a folded word.
pub(crate) fn stem_in(word: &str, language: Language) -> String {
    if language.code() == "de" { language::stems::stem(word, language) } else { stem(word) }
}

/// What a question asks for.
#[derive(Debug)]
pub struct Intent {
    language: Language,
    cues: HashSet<&'static str>,
    numbers: bool,
    years: bool,
    least: usize,
}

impl Intent {
    pub fn of(question: &str, language: Language) -> Self {
        let stemmed = Stemmed::get(language);
        let german = stemmed.language != Language::ENGLISH;
        // `sich` has the stem of `Sicherheit`; `who` and `why` are words of English questions.
        let asked: HashSet<String> = words(question)
            .iter()
            .filter(|word| !(german && stemmed.language.has(word)))
            .map(|word| stem_in(word, stemmed.language))
            .collect();
        let mut intent = Self {
            language: stemmed.language,
            cues: HashSet::new(),
            numbers: false,
            years: false,
            least: 1,
        };
        for (kind, stemmed) in KINDS.iter().zip(&stemmed.kinds) {
            if stemmed.asked.iter().any(|word| asked.contains(word)) {
                intent.cues.extend(stemmed.cues.iter().map(String::as_str));
                intent.numbers |= kind.numbers;
                intent.years |= kind.years;
                intent.least = intent.least.max(kind.least);
            }
        }
        intent.numbers |= question.to_lowercase().contains("how much");
        intent
    }

    /// Whether the question asks for a kind of answer that can be recognised.
    pub fn is_known(&self) -> bool {
        !self.cues.is_empty()
    }

    /// How far a sentence looks like an answer, from 0 to 1.
    pub fn fit(&self, sentence: &str, stems: &[String]) -> f64 {
        self.signs(sentence, stems).min(MOST_SIGNS) as f64 / MOST_SIGNS as f64
    }

    /// Whether a sentence gives the kind of answer that is asked for. One that names the topic needs fewer signs.
    pub fn is_answer(&self, sentence: &str, stems: &[String], names_topic: bool) -> bool {
        let least = if names_topic && !self.years { 1 } else { self.least };
        !self.is_known() || self.signs(sentence, stems) >= least
    }

    fn signs(&self, sentence: &str, stems: &[String]) -> usize {
        let mut signs = stems.iter().filter(|stem| self.cues.contains(stem.as_str())).count();
        if self.numbers || self.years {
            let found = quantities(sentence);
            let years = found.iter().filter(|quantity| quantity.unit == YEAR).count();
            signs += usize::from(self.numbers && found.len() > years);
            signs += usize::from(self.years && years > 0);
            // A year alone may be that of a figure: something has to have happened then.
            signs += usize::from(self.years && signs > 0 && is_past(sentence, self.language));
        }
        signs
    }

    /// Whether a year gives the answer.
    pub fn asks_for_years(&self) -> bool {
        self.years
    }

    /// The language of its stems.
    pub fn language(&self) -> Language {
        self.language
    }
}

/// More signs of an answer say no more.
const MOST_SIGNS: usize = 3;

/// Whether a sentence is in a past tense.
fn is_past(sentence: &str, language: Language) -> bool {
    let past = |word: &str| {
        (word.len() > 4 && word.ends_with("ed"))
            || PAST.split_whitespace().any(|known| known == word)
    };
    let lower = sentence.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphanumeric());
    // `are discarded` is in the present.
    let german = || language.code() == "de" && has_german_past(sentence);
    !words().any(|word| PRESENT.contains(&word)) && (words().any(past) || german())
}

/// Whether a sentence has a verb such as `stellte`: in lower case, and not an adjective before its noun.
fn has_german_past(sentence: &str) -> bool {
    let words: Vec<&str> =
        sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let ends = word.ends_with("te") || word.ends_with("ten");
        let noun = words.get(at + 1).is_some_and(|next| next.starts_with(char::is_uppercase));
        let lower = word.starts_with(char::is_lowercase) && word.chars().nth(4).is_some();
        ends && lower && !noun && !NO_PAST.contains(word)
    })
}

/// The stems of a question without those that say nothing, such as `role` and `people`.
pub fn asked_stems(question: &str, language: Language) -> Vec<String> {
    without(content_stems(question, language), &Stemmed::get(language).empty)
}

/// The stems of a question that name its topic rather than what is asked about it.
pub fn topic_stems(question: &str, language: Language) -> Vec<String> {
    without(content_stems(question, language), &Stemmed::get(language).frame)
}

/// A question of such words only is about them.
fn without(content: Vec<String>, left_out: &HashSet<String>) -> Vec<String> {
    let rest: Vec<String> =
        content.iter().filter(|word| !left_out.contains(*word)).cloned().collect();
    if rest.is_empty() { content } else { rest }
}

/// Whether all words of a phrase belong to questions rather than to a topic, such as `survey`.
pub fn is_frame(phrase: &str, language: Language) -> bool {
    let stemmed = Stemmed::get(language);
    let known = |stem: &String| {
        stemmed.frame.contains(stem) || stemmed.kinds.iter().any(|kind| kind.cues.contains(stem))
    };
    content_stems(phrase, language).iter().all(known)
}

/// The different stems of a text's content words, in order.
pub fn content_stems(text: &str, language: Language) -> Vec<String> {
    let mut seen = HashSet::new();
    content_words(text, language).into_iter().filter(|word| seen.insert(word.clone())).collect()
}

/// The stems of a text's content words, in order.
pub fn content_words(text: &str, language: Language) -> Vec<String> {
    words(text)
        .into_iter()
        .filter(|word| word.chars().nth(1).is_some() && !is_function_word(word))
        .map(|word| stem_in(&word, language))
        .collect()
}

/// Function words of English and German.
pub(crate) fn is_function_word(word: &str) -> bool {
    language::words::is_stop_word(word)
        || ["en", "de"]
            .iter()
            .any(|code| Language::named(code).is_some_and(|language| language.has(word)))
}
