//! Required and optional qualifications of a job: the items of lists and of sentences.

use std::sync::LazyLock;

use regex::Regex;

use super::degrees;
use super::lines::Line;
use super::sentences::sentences;
use super::words::{Field, Section};
use super::years;
use crate::skills::{Lexicon, TermKind};

/// What a job asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Requirements {
    pub must: Vec<String>,
    pub nice: Vec<String>,
    /// Whether a heading or a key names one of the lists.
    pub listed: bool,
}

/// The longest item of a list that is kept whole, in words.
const MAX_ITEM_WORDS: usize = 14;
/// Replaces years of experience in a text.
const YEARS_MARK: &str = "\u{1}";
/// The longest part of an enumeration, in words.
const MAX_PART_WORDS: usize = 5;
/// A longer text without a comma, in bytes, is no enumeration; each of its conjunctions would be tried against all others.
const MAX_ENUMERATION: usize = 400;

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

/// Phrases that say that a skill is welcome, but not needed.
static NICE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)
        \(?\b(?: (?:is|are|would\s+be|will\s+be|ist|sind|wäre|wären|est|sont|serait|seraient|es|son|sería|serían) \s+ (?:also\s+|auch\s+|ein\s+|eine\s+|aussi\s+|también\s+)?
          (?:an?|une?|un)? \s* (?:big|huge|real|definite|strong|great|distinct|klarer|großer|echter|gros|vrai|gran)? \s*
          (?:plus(?:es)?|advantages?|bonus(?:es)?|assets?|benefit|desirable|desired|preferred|optional|welcome|helpful|beneficial|useful|appreciated|advantageous|nice(?:\s+to\s+have)?|pluspunkt|vorteil|vorteilhaft|von\s+vorteil|wünschenswert|willkommen|gern\s+gesehen|souhaitée?s?|appréciée?s?|atouts?|bienvenue?s?|deseables?|valorables?|ventaja|bienvenid[oa]s?|punto\s+a\s+favor)
        | (?:earns?|gets?|give)\s+(?:you\s+)?(?:bonus|extra)\s+points | (?:will|would)\s+(?:set\s+you\s+apart|help|be\s+valued) | counts?\s+in\s+your\s+favou?r | rounds?\s+(?:off|out)\s+your\s+profile | runden\s+(?:ihr|dein)\s+profil\s+ab
        | (?:bonus|extra)\s+points\s*(?:for|if)?(?:\s+you)? | a\s+plus | an\s+advantage | nice[-\s]to[-\s]have | good\s+to\s+have | preferably | preferred | ideally | optional(?:ly|erweise)? | desirable | not\s+(?:required|essential|a\s+must) | advantageous
        | we(?:'d|’d|\s+would)\s+(?:also\s+)?(?:love|like)\s+(?:it\s+if\s+you(?:\s+also)?(?:\s+(?:know|have|bring|speak))?|to\s+see|you\s+to) | it\s+helps\s+if | even\s+better\s+if | as\s+a\s+bonus
        | (?:von\s+vorteil|wünschenswert|vorteilhaft)(?:\s+(?:ist|sind|wären?))? | idealerweise | im\s+idealfall | bestenfalls | gerne?\s+(?:auch|mit) | pluspunkte?
        | idéalement | un\s+plus | un\s+atout | souhaitée?s? | appréciée?s? | de\s+préférence
        | idealmente | se\s+valor(?:a|ará|arán|an) | valoramos | valoraremos | valorable | deseables? | preferiblemente | un\s+punto\s+a\s+favor | sería\s+ideal
        )\b \)? [:,]?",
    )
});

/// Phrases that say that a skill is needed.
static MUST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)\b(?: you\s+(?:will\s+|should\s+|must\s+|already\s+|also\s+|can\s+|'ll\s+)*(?:bring|have|need|know|master|possess|offer|hold|are\s+(?:fluent|proficient|skilled|experienced|confident|familiar|comfortable|at\s+home|expert)|work\s+(?:confidently\s+)?with|speak)
        | you(?:'ve|’ve|'ll|’ll)\s+(?:need|have|bring|worked|got|know) | we\s+(?:expect|require|need|ask\s+for|look\s+for|are\s+looking\s+for) | the\s+(?:ideal\s+|right\s+|successful\s+)?(?:candidate|person|applicant)\s+(?:has|have|brings|will\s+have|must|should|knows|needs) | (?:candidates?|applicants?)\s+(?:must|should|need|have|will\s+have)
        | must[-\s]haves? | required | requires? | requirements? | essential | mandatory | necessary | needed | a\s+must | indispensable | prerequisites?
        | (?:solid|strong|good|sound|deep|proven|excellent|thorough|profound|in-depth|hands-on|practical|working|expert)\s+(?:knowledge|experience|command|understanding|skills|expertise|grasp)
        | (?:knowledge|command|mastery|understanding)\s+of | experience\s+(?:with|in|of|using) | proficien(?:t|cy)\s+(?:in|with) | expertise\s+in | skilled\s+in | fluent\s+in | background\s+in | familiar(?:ity)?\s+with
        | (?:sie|du|ihr)\s+(?:bringen|bringst|haben|hast|verfügen|verfügst|beherrschen|beherrschst|kennen|kennst|besitzen|können|kannst) | (?:bringen|bringst)\s+(?:sie|du) | (?:haben|verfügen)\s+sie | wir\s+(?:erwarten|setzen|verlangen) | voraussetzung(?:en)?|vorausgesetzt|erforderlich|zwingend|notwendig | kenntnisse?\s+in | erfahrung(?:en)?\s+(?:mit|in|im) | umgang\s+mit | vertraut\s+mit
        | vous\s+(?:maîtrisez|avez|connaissez|possédez|justifiez|disposez|êtes|savez|apportez) | tu\s+(?:maîtrises|as|connais) | nous\s+(?:attendons|demandons|exigeons) | maîtrise\s+(?:de|des|du|d') | connaissances?\s+(?:de|des|du|en|d'|solides?\s+(?:de|en)) | expérience\s+(?:avec|en|de|des|dans|sur) | requis(?:e|es)? | exigée?s? | obligatoires?
        | (?:dominas|tienes|conoces|necesitas|aportas|posees|tiene|domina|aporta|necesitarás|manejas) | exigimos|requerimos|pedimos|esperamos | se\s+(?:requiere|requieren|exige|necesita|pide|piden) | imprescindible|obligatorio|necesari[oa] | conocimientos?\s+(?:de|en|sólidos?|avanzados?) | experiencia\s+(?:con|en|de) | dominio\s+(?:de|del) | manejo\s+(?:de|del)
        )(?:\b|\s)",
    )
});

/// Phrases before the name of a skill, which are no part of it.
static CUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)
        (?:\b(?:an?|the|some|any|first|your|very|ein|eine|une|un|una|erste|einige|gute|sehr|bonne|buen|buena|buenos)\s+)*
        (?:\b(?:solid|strong|good|sound|deep|proven|excellent|thorough|profound|in-depth|hands-on|practical|working|expert|basic|advanced|extensive|broad|demonstrable|demonstrated|professional|relevant|prior|previous|significant|commercial|detailed|some|fundierte[sn]?|gute[sn]?|sehr|solide[sn]?|tiefe[sn]?|umfassende[sn]?|praktische[sn]?|sichere[rsn]?|ausgeprägte|nachweisbare|mehrjährige|einschlägige|erste|bonne[s]?|solides?|excellente[s]?|parfaite|très|sólid[oa]s?|buen[oa]?s?|ampli[oa]s?|profund[oa]s?|avanzad[oa]s?|excelentes?|demostrable)[,]?\s+(?:and\s+|und\s+|et\s+|y\s+)?)*
        \b(?: (?:knowledge|command|understanding|mastery|grasp|awareness)\s+(?:of|in|about) | (?:working\s+)?experience\s+(?:with|in|of|using|on|working\s+with) | experienced\s+(?:with|in) | proficien(?:t|cy)\s+(?:in|with|at) | expertise\s+(?:in|with) | expert\s+in | skill(?:s|ed)?\s+(?:in|with|at) | fluen(?:t|cy)\s+(?:in|with) | background\s+in | familiar(?:ity)?\s+with | worked\s+(?:extensively\s+)?(?:with|in|on) | work(?:ing)?\s+(?:confidently\s+)?with | competen(?:t|ce|cy)\s+(?:in|with) | confident\s+(?:with|in|using|user\s+of) | comfortable\s+(?:with|in|using) | versed\s+in | exposure\s+to | track\s+record\s+(?:in|with|of) | ability\s+to\s+use | training\s+in | interest\s+in | at\s+home\s+(?:in|with) | (?:confident|able|how)\s+to\s+use | use\s+of | certified\s+in | hands-on\s+with
          | \p{L}*kenntnisse?\s+(?:in|im|von|der|des|zu) | \p{L}*erfahrung(?:en)?\s+(?:mit|in|im|als) | umgang\s+mit | vertraut(?:heit)?\s+mit | beherrschung\s+(?:von|der) | wissen\s+(?:in|über|im) | know-how\s+in | sicher\s+(?:in|im|mit) | versiert\s+(?:in|im|mit)
          | maîtrise\s+(?:de\s+la|de\s+l['’]|de|des|du|d['’]) | connaissances?\s+(?:solides?\s+|approfondies?\s+|avancées?\s+)?(?:de\s+la|de|des|du|en|d['’]|sur) | (?:solide\s+)?expérience\s+(?:avec|en|des|de|dans|sur|significative\s+(?:en|avec|dans)) | compétences?\s+(?:en|sur) | pratique\s+(?:de|du|des) | à\s+l['’]aise\s+avec | notions\s+(?:de|en)
          | conocimientos?\s+(?:sólidos?\s+|avanzados?\s+|profundos?\s+|básicos?\s+)?(?:de|del|en|sobre) | experiencia\s+(?:previa\s+|demostrable\s+|sólida\s+)?(?:con|en|de|trabajando\s+con) | dominio\s+(?:de|del) | manejo\s+(?:de|del) | nociones\s+de | competencias?\s+en | soltura\s+(?:con|en) | haber\s+trabajado\s+con )
        (?:\s|$|['’])",
    )
});

/// Words at the start of a sentence of requirements.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?: (?:also|besides|in\s+addition|additionally|furthermore|außerdem|zudem|darüber\s+hinaus|de\s+plus|además)[,\s]+ )?
        (?: (?:if\s+)?you(?:'ve|’ve|'ll|’ll)?\s+(?:will\s+|should\s+|must\s+|already\s+|also\s+|can\s+|have\s+also\s+|ideally\s+|'ll\s+)*(?:bring|have|need|know|master|possess|offer|hold|are|speak|use|worked|work|got)?(?:\s+also|\s+already|\s+to\s+know|\s+to\s+have|\s+with)?
        | we(?:'re|’re)?\s+(?:expect|require|need|ask\s+for|look\s+for|(?:are\s+)?looking\s+for)(?:\s+(?:some(?:one|body)|a\s+person|people|candidates)\s+(?:with|who\s+(?:has|have|knows?|brings?)))? | (?:some(?:one|body))\s+(?:with|who\s+(?:has|knows)) | (?:the\s+)?(?:ideal\s+|right\s+|successful\s+)?(?:candidates?|person|applicants?)\s+(?:has|have|brings?|will\s+have|must\s+have|must\s+know|should\s+have|knows?|needs?|must|should) | must[-\s]haves?(?:\s+are)? | required(?:\s+are|\s+is)? | essential(?:\s+are|\s+is)? | this\s+requires | the\s+role\s+requires | what\s+counts\s+is
        | (?:sie|du|ihr)\s+(?:bringen|bringst|haben|hast|verfügen|verfügst|beherrschen|beherrschst|kennen|kennst|besitzen|können|kannst)(?:\s+(?:über|außerdem|auch|bereits|idealerweise))* | (?:haben|bringen|verfügen|bringst|hast)\s+(?:sie|du)(?:\s+(?:über|auch|bereits))* | wir\s+(?:erwarten|setzen|verlangen) | (?:zwingend\s+)?(?:voraussetzung(?:en)?|erforderlich|notwendig)\s+(?:ist|sind)
        | vous\s+(?:maîtrisez|avez|connaissez|possédez|justifiez\s+d['’]?|disposez\s+d['’]?|savez|apportez|êtes)(?:\s+(?:également|aussi|déjà|une|un|de|des|les|la|le))* | nous\s+(?:attendons|demandons|exigeons)
        | (?:dominas|tienes|conoces|necesitas|aportas|posees|tiene|domina|aporta|necesitarás|manejas)(?:\s+también)? | exigimos|requerimos|pedimos|esperamos | se\s+(?:requieren?|exigen?|necesitan?|piden?) | (?:es\s+)?(?:imprescindible|obligatorio|necesario)s?(?:\s+(?:es|son|tener|saber))? )(?:\s+|[:,]\s*|$)",
    )
});

/// What follows the name of a skill, and is no part of it.
static CLOSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)(?: \s*[,(]?\s*\b(?:in\s+wort(?:\s+und\s+schrift)?|(?:both\s+)?(?:written|spoken|verbal|oral)(?:\s+and\s+|\s*/\s*)(?:written|spoken|verbal|oral)|à\s+l['’](?:écrit|oral)\s+(?:et|comme)\s+à\s+l['’](?:oral|écrit)|hablado\s+y\s+escrito)\)?\s*$ | \s*[,(]?\s*\b(?:or|oder|ou|o)\s+(?:something\s+)?(?:similar|equivalent|comparable|ähnlich\p{L}*|vergleichbar\p{L}*|équivalent\p{L}*|similares?)\b.* | \s*\betc\b\.? | \s*\(?\b(?:is|are|ist|sind|est|sont|es|son)\s+(?:an?\s+|strictly\s+|absolutely\s+|zwingend\s+|unbedingt\s+|unerlässlich|absolute\s+)*(?:required|must|essential|mandatory|needed|necessary|indispensable|expected|erforderlich|voraussetzung|notwendig|muss|pflicht|requise?s?|exigée?s?|obligatoires?|imprescindibles?|obligatori[oa]s?|necesari[oa]s?|indispensables?)\b.* | \s*\(?\b(?:required|mandatory|a\s+must|erforderlich|zwingend|vorausgesetzt|requise?s?|exigée?s?|obligatoires?|imprescindibles?)\)?\s*$ | \s+(?:mit|voraus|sind|ist)\s*$ | \s+(?:in|dans|en|im)\s+(?:an?|einem|einer|une?|una?)\s+(?:similar|comparable|vergleichbar\p{L}*|ähnlich\p{L}*|professional|commercial|production)?\s*(?:role|position|job|setting|environment|field|funktion|rolle|poste\s+similaire|poste|puesto\s+similar|puesto|rol\s+similar|entorno)\b )",
    )
});

/// Words that make no item by themselves.
static GENERIC: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)^(?:of|in|with|as|the|a|an|and|or|at|least|minimum|professional|relevant|work(?:ing)?|experience|similar|comparable|role|roles|position|positions|field|industry|job|knowledge|skills?|such|like|following|technologies|tools|also|already|both|all|us|you|your|plus|proven|solid|practical|hands-on|commercial|previous|this|that|is|are|have|has|more|good|strong|berufserfahrung|erfahrung|kenntnisse|relevante?|einschlägige|vergleichbaren?|ähnlichen?|position|von|und|oder|mit|in|der|einer|einem|als|expérience|professionnelle|dans|un|une|poste|similaire|de|et|en|ou|experiencia|profesional|laboral|puesto|similar|y|o|con|una?|\W)+$",
    )
});

/// Reads what the lines of a description ask for.
pub(super) fn read(lines: &[Line]) -> Requirements {
    let mut found = Requirements::default();
    for line in lines {
        match (&line.field, line.section) {
            (Some((Field::Must, value)), _) => found.add_list(value, false),
            (Some((Field::Nice, value)), _) => found.add_list(value, true),
            (None, Section::Must) => found.add_item(&line.text, false),
            (None, Section::Nice) => found.add_item(&line.text, true),
            _ => {}
        }
    }
    found.listed = !found.must.is_empty() || !found.nice.is_empty();
    let free = lines.iter().filter(|line| line.field.is_none() && line.section == Section::None);
    for sentence in free.flat_map(|line| sentences(&line.text)) {
        found.add_sentence(sentence);
    }
    found.deduplicate();
    found
}

impl Requirements {
    /// The value of a key: a list, or a sentence.
    fn add_list(&mut self, value: &str, nice: bool) {
        self.listed = true;
        for sentence in value.split(';') {
            self.add_item(sentence, nice);
        }
    }

    /// A line of a list.
    fn add_item(&mut self, text: &str, nice: bool) {
        for sentence in sentences(text) {
            let nice = nice || NICE.is_match(sentence);
            self.extend(items(sentence), nice);
        }
    }

    /// A sentence outside of lists, which has to say what it asks for.
    fn add_sentence(&mut self, sentence: &str) {
        let nice = NICE.is_match(sentence);
        // Lists say more than sentences where there are both.
        if self.listed && !(nice && self.nice.is_empty() || !nice && self.must.is_empty())
            || !nice && !MUST.is_match(sentence)
        {
            return;
        }
        let mut items = items(sentence);
        items.retain(|item| {
            item.split_whitespace().count() <= MAX_PART_WORDS || degrees::find(item).is_some()
        });
        self.extend(items, nice);
    }

    fn extend(&mut self, items: Vec<String>, nice: bool) {
        let list = if nice { &mut self.nice } else { &mut self.must };
        list.extend(items);
    }

    fn deduplicate(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.must.retain(|item| seen.insert(item.to_lowercase()));
        self.nice.retain(|item| seen.insert(item.to_lowercase()));
    }
}

/// The items that a line or a sentence names.
pub(super) fn items(text: &str) -> Vec<String> {
    let text = text.trim().trim_end_matches(['.', ';', ',', ':', '!', '?']).trim();
    let text = years::mark(text, YEARS_MARK);
    let text = NICE.replace_all(&text, " ");
    let named = named_in_brackets(&text);
    let text = CLOSING.replace_all(&text, " ");
    let text = without_brackets(&text);
    if let Some(degree) = degrees::find(&text) {
        return vec![degree];
    }
    let text = text.trim().trim_end_matches(['.', ';', ',', ':', '!', '?']).trim();
    let text = OPENING.replace(text, "");
    if let Some(degree) = degrees::find(&text) {
        return vec![degree];
    }
    let years = text.contains(YEARS_MARK);
    let first = CUE.find(&text).map(|cue| cue.start());
    let list = CUE.replace_all(&text, ", ");
    let list = match first {
        // Before the first cue only terms of the lists are items; the rest are words of the sentence.
        Some(start) => {
            let known = split(&list[..start])
                .into_iter()
                .filter(|part| clean(part).is_some_and(|part| is_term(&part)));
            known.chain(split(&list[start..])).collect()
        }
        None => split(&list),
    };
    let parts = list.iter().map(|part| part.rsplit(YEARS_MARK).next().unwrap_or(part));
    let items = parts.filter_map(clean);
    // The field of the years is an item if it has a name: "five years in a warehouse" asks only for years.
    let items = items.filter_map(|item| {
        if !years || is_term(&item) || item.starts_with(char::is_uppercase) {
            return Some(item);
        }
        // "building services in Go"
        let last = [" in ", " with ", " using ", " mit ", " en ", " con "];
        let term = last.iter().find_map(|cue| item.rsplit_once(cue))?.1;
        is_term(term).then(|| term.to_owned())
    });
    let mut items: Vec<String> = items.collect();
    items.extend(named);
    items
}

/// The terms of the lists that brackets enumerate: "message queues (Kafka or similar)".
fn named_in_brackets(text: &str) -> Vec<String> {
    let inside = text.split('(').skip(1).filter_map(|rest| rest.split_once(')')).map(|(it, _)| it);
    inside.flat_map(split).filter_map(|part| clean(&part)).filter(|part| is_term(part)).collect()
}

fn is_term(part: &str) -> bool {
    part.len() <= MAX_ENUMERATION
        && Lexicon::shipped().kind(&part.to_lowercase()).is_some_and(|kind| kind != TermKind::Trait)
}

/// Removes what is in round brackets, unless all is.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(sign),
            _ => {}
        }
    }
    if out.contains(char::is_alphanumeric) { out } else { text.replace(['(', ')'], " ") }
}

/// Splits an enumeration; a text that is none is one part.
fn split(text: &str) -> Vec<String> {
    let text = match [
        " such as ",
        " like ",
        " e.g. ",
        " wie ",
        " z.B. ",
        " tels que ",
        " comme ",
        " como ",
    ]
    .iter()
    .find_map(|cue| text.split_once(cue))
    {
        Some((before, after)) if after.contains(',') || before.split_whitespace().count() <= 3 => {
            after
        }
        _ => text,
    };
    let mut parts: Vec<&str> = text
        .split([';', '•', '|', '·'])
        .flat_map(|part| part.split(" / "))
        .flat_map(split_commas)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let commas = parts.len() > 1;
    let short = parts.iter().all(|part| part.split_whitespace().count() <= 2 * MAX_PART_WORDS + 1);
    if commas && !short {
        return vec![text.trim().to_owned()];
    }
    let last = parts.pop().unwrap_or("");
    let mut all: Vec<String> = parts.into_iter().map(str::to_owned).collect();
    all.extend(split_last(last, commas));
    all
}

/// Splits at commas that are no part of a number.
fn split_commas(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        match text.match_indices(", ").next() {
            Some((at, _)) => {
                rest = Some(&text[at + 2..]);
                Some(&text[..at])
            }
            None => {
                rest = None;
                Some(text)
            }
        }
    })
}

const CONJUNCTIONS: [&str; 13] = [
    " and ",
    " or ",
    " und ",
    " oder ",
    " sowie ",
    " et ",
    " ou ",
    " y ",
    " e ",
    " o ",
    " & ",
    " as well as ",
    " and/or ",
];

/// Splits the last part of an enumeration at its conjunction.
fn split_last(part: &str, commas: bool) -> Vec<String> {
    let part = CONJUNCTIONS.iter().fold(part, |part, conjunction| {
        part.strip_prefix(conjunction.trim_start()).unwrap_or(part)
    });
    if part.len() > MAX_ENUMERATION || is_term(part) {
        return vec![part.to_owned()];
    }
    let mut cuts: Vec<(&str, &str)> = Vec::new();
    for conjunction in CONJUNCTIONS {
        cuts.extend(
            part.match_indices(conjunction)
                .map(|(at, _)| (&part[..at], &part[at + conjunction.len()..])),
        );
    }
    cuts.sort_by_key(|(left, _)| left.len());
    let known = |text: &str| is_term(text.trim());
    let both = cuts.iter().find(|(left, right)| known(left) && known(right));
    let one = cuts.iter().find(|(left, right)| known(left) || known(right));
    // Without a comma only known terms or short names are a list: "health and safety" is one thing.
    let name = |text: &str| {
        text.split_whitespace().count() <= 3 && text.trim().starts_with(char::is_uppercase)
    };
    let named = cuts.iter().find(|(left, right)| name(left) && name(right));
    let cut = both.or(one).or(named).or(if commas { cuts.first() } else { None });
    match cut {
        Some((left, right)) => {
            let mut parts = split_last(left, false);
            parts.extend(split_last(right, false));
            parts
        }
        None => vec![part.to_owned()],
    }
}

/// An item without articles and adjectives, unless nothing is left.
fn clean(part: &str) -> Option<String> {
    let mut part =
        part.trim().trim_matches(['.', ',', ':', ';', '-', '–', '"', '“', '”', '*']).trim();
    for word in [
        " but",
        " mit",
        " aber",
        " also",
        " too",
        " however",
        " mais",
        " pero",
        " voraus",
        " auch",
        " aussi",
        " también",
        " is",
        " are",
    ] {
        part = part.strip_suffix(word).unwrap_or(part).trim();
    }
    for conjunction in CONJUNCTIONS {
        part = part.strip_suffix(conjunction.trim_end()).unwrap_or(part).trim();
        part = part.strip_prefix(conjunction.trim_start()).unwrap_or(part).trim();
    }
    while let Some((first, rest)) = part.split_once(' ') {
        if !LEADING.contains(&first.to_lowercase().as_str()) {
            break;
        }
        part = rest.trim();
    }
    let part = strip_noun(part);
    let words = part.split_whitespace().count();
    // "or another typed language" names nothing.
    let first = part.split_whitespace().next().unwrap_or("").to_lowercase();
    if ["another", "other", "others", "similar", "comparable", "andere", "autre", "otro", "otra"]
        .contains(&first.as_str())
    {
        return None;
    }
    let kept =
        part.contains(char::is_alphanumeric) && words <= MAX_ITEM_WORDS && !GENERIC.is_match(part);
    kept.then(|| part.to_owned())
}

const LEADING: [&str; 41] = [
    "with",
    "a",
    "an",
    "the",
    "some",
    "any",
    "very",
    "good",
    "strong",
    "solid",
    "sound",
    "excellent",
    "proven",
    "basic",
    "advanced",
    "deep",
    "first",
    "sehr",
    "gute",
    "guter",
    "gutes",
    "fundierte",
    "solide",
    "erste",
    "sichere",
    "bonne",
    "bonnes",
    "solides",
    "la",
    "le",
    "les",
    "des",
    "du",
    "l'",
    "el",
    "los",
    "las",
    "buen",
    "buenos",
    "sólidos",
    "of",
];

/// "Python skills" and "Excel-Kenntnisse" name the term before the noun.
fn strip_noun(part: &str) -> &str {
    let nouns = [
        " skills",
        " experience",
        " knowledge",
        " expertise",
        " proficiency",
        "-kenntnisse",
        " kenntnisse",
        "-erfahrung",
        "kenntnisse",
    ];
    for noun in nouns {
        let Some(at) = part.len().checked_sub(noun.len()).filter(|at| part.is_char_boundary(*at))
        else {
            continue;
        };
        if part[at..].eq_ignore_ascii_case(noun) && is_term(&part[..at]) {
            return &part[..at];
        }
    }
    part
}
