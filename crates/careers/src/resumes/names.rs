//! Titles, companies, degrees and institutions among the names of an entry.

use std::sync::LazyLock;

use regex::Regex;

use super::places::is_place;
use super::roles::names_role;

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

static DEGREE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:b\.?\s?sc|b\.?a|m\.?\s?sc|m\.?a|[bm]\.\s?s|[bm]\.\s?e|b\.?eng|m\.?eng|b\.?ed|m\.?ed|b\.?tech|m\.?tech|b\.?com|m\.?com|b\.?b\.?a|[bm]\.?f\.?a|ll\.?[bm]|m\.?phil|hnd|hnc|mba|ph\.?\s?d|dphil|gcses?|a[- ]levels?|pgce|pgdip|ged|foundation degree|bachelor\p{L}*|bachelier|master\p{L}*|magister|doctorate|doctor|doktor|promotion|diplom\p{L}*|diplôme|certificate|certificat|certificado|degree|associate|licence|licenciatura|licenciad[oa]|grado|graduado|máster|doctorado|abitur|fachabitur|mittlere reife|matura|staatsexamen|ausbildung|lehre|fachhochschulreife|bts|dut|but|cap|baccalauréat|bac|maîtrise|ingénierie|technik\p{L}*\s+in|apprenticeship|bachillerato|ciclo formativo|formación profesional|técnico superior|nvq|btec|laurea|dottorato|maturità|mestrado|mestre|bacharelado|bacharel|doutorado|doutoramento|graduação|pós-graduação|tecnólogo|ensino médio|ensino secundário|[cmd]as)\b",
    )
});

/// Degrees that are words or names of products in other case.
static SHORT_DEGREE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:BS|MS|JD|EdD|DDS|PharmD|DVM|RN)(?:\s+(\p{L}+))?"));

static INSTITUTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b(?:university|college|institute|school|polytechnic|academy|faculty|université|école|institut|lycée|collège|iut|faculté|universidad|escuela|instituto|facultad|colegio|politécnica|academia|conservatory|seminary|universidade|faculdade|escola|colégio|liceu|università|politecnico|scuola|liceo|istituto|universiteit|hogeschool|universitet|tu|fh|eth|mit|insa|uni)\b|universität|hochschule|haute école|\p{L}*schule\b|akademie|gymnasium|berufskolleg|ihk\b)",
    )
});

/// Words between a title and a company.
static AT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\s+(?:at|bei|beim|chez|@|for|with|presso|na empresa|en la empresa)\s+")
});
static DASH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\s+[–—|·•]\s*|\s*[|·•]\s+|\s+-\s+|\t+|\s{3,}"));

/// Legal forms and other words of companies, in lower case.
const COMPANY_WORDS: &str = "gmbh ag kg ohg se ug ltd ltd. limited inc inc. llc llp lp plc corp corp. corporation company co. group holding \
    holdings sa sas sarl s.a. s.a s.l. s.l sl s.l.u. slu s.r.l. s.r.l srl s.p.a. s.p.a spa lda lda. ltda ltda. eirl bv b.v. nv n.v. oy a/s aps \
    bank council clinic hospital school university labs systems solutions technologies services studio studios media insurance consulting \
    partners associates klinik klinikum krankenhaus hôpital clínica ayuntamiento stadt ministry foundation industries enterprises agency \
    authority airlines hotel restaurant college institute laboratories pharmaceuticals logistics e.v. ev groupe grupo gruppo banco banca banque \
    mairie cabinet e.k. pvt pty";

/// Legal forms that stand behind a comma.
const LEGAL_FORMS: &str = "inc inc. ltd ltd. llc llp plc corp corp. co co. gmbh ag kg sa s.a. s.a s.l. sl srl s.r.l. spa s.p.a. lda lda. ltda ltda. bv b.v. nv n.v. pvt pty lp";

/// The name of a company or an institution, and whether a line of its own above the dates says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub main: Option<String>,
    pub organisation: Option<String>,
    /// Whether the order of the two was decided by their words.
    pub title_first: Option<bool>,
}

/// Whether a text names a degree.
pub(crate) fn is_degree(text: &str) -> bool {
    let office =
        ["Office", "Excel", "Word", "Project", "Access", "SQL", "Dynamics", "Teams", "Windows"];
    DEGREE.is_match(text)
        || SHORT_DEGREE
            .captures_iter(text)
            .any(|found| found.get(1).is_none_or(|next| !office.contains(&next.as_str())))
}

/// Whether a text names a place of study.
pub(crate) fn is_institution(text: &str) -> bool {
    INSTITUTION.is_match(text)
}

/// Whether a text names a degree or a place of study.
pub(super) fn names_study(text: &str) -> bool {
    is_degree(text) || is_institution(text)
}

pub(crate) fn is_company(name: &str) -> bool {
    let name = name.to_lowercase();
    name.split(|sign: char| sign.is_whitespace() || sign == ',')
        .any(|word| COMPANY_WORDS.split_whitespace().any(|form| form == word))
        || name.contains(" & ")
}

/// The names in a line: split at "at", dashes and bars, else at commas.
pub(super) fn parts(text: &str) -> Vec<String> {
    let chunks = chunks(text);
    if chunks.len() > 1 {
        return chunks;
    }
    commas(text)
}

/// The parts of a line between "at", dashes, bars and gaps.
fn chunks(text: &str) -> Vec<String> {
    if let Some(found) = AT.find(text)
        && (names_role(&text[..found.start()])
            || is_degree(&text[..found.start()]) && is_institution(&text[found.end()..]))
    {
        return tidy_all([&text[..found.start()], &text[found.end()..]].into_iter());
    }
    tidy_all(DASH.split(text))
}

fn tidy_all<'a>(parts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let tidy = |part: &'a str| {
        let part = part.trim().trim_matches([',', ';', ':', '_', '*']).trim();
        let part = part.strip_prefix('(').unwrap_or(part);
        // The end of a sentence, but not of "Ltd." or "S.A.".
        let last = part.rsplit(' ').next().unwrap_or("").trim_end_matches('.');
        let ends = last.chars().count() > 4 && !last.contains('.');
        let part = if ends { part.trim_end_matches('.') } else { part };
        let open = part.contains('(');
        if open { part.to_owned() } else { part.trim_end_matches(')').trim().to_owned() }
    };
    parts.map(tidy).filter(|part| part.contains(char::is_alphabetic)).collect()
}

/// The parts of a text between commas and sentences; a legal form stays with its company.
fn commas(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in tidy_all(text.split(", ").flat_map(sentences)) {
        let form = LEGAL_FORMS.split_whitespace().any(|form| form == part.to_lowercase());
        match parts.last_mut() {
            Some(last) if form => {
                last.push_str(", ");
                last.push_str(&part);
            }
            _ => parts.push(part),
        }
    }
    parts
}

/// "Electrician. Saguaro Electric" are two names; "St. Anne's" is one.
fn sentences(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(". ") {
        let word = text[start..at].rsplit(' ').next().unwrap_or("");
        if word.chars().count() > 4 && !word.contains('.') {
            parts.push(&text[start..at]);
            start = at + 2;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The chunks of names without those that are places.
fn all_chunks(names: &[String]) -> Vec<String> {
    let all: Vec<String> = names.iter().flat_map(|name| chunks(name)).collect();
    let named: Vec<String> = all.iter().filter(|chunk| !is_place(chunk)).cloned().collect();
    if named.is_empty() { all } else { named }
}

/// The title and the company among names. `title_first` is what other entries of the document do.
pub(super) fn position_names(names: &[String], title_first: Option<bool>) -> Named {
    let chunks = all_chunks(names);
    let role = |name: &String| names_role(name);
    let title = chunks
        .iter()
        .position(|name| names_role(name) && !is_company(name))
        .or_else(|| chunks.iter().position(role));
    let Some(title) = title else { return without_role(chunks, title_first) };
    let others: Vec<usize> = (0..chunks.len()).filter(|at| *at != title).collect();
    let other =
        others.iter().copied().find(|at| is_company(&chunks[*at])).or(others.first().copied());
    let parts = without_places(commas(&chunks[title]));
    match other {
        Some(other) => {
            let evident = other < title
                || is_company(&chunks[other])
                || chunks[other].contains(", ")
                || parts.len() < 2;
            // "Vice President, Sales" above its company; but "Engineer, Acme" above a town.
            if !evident || parts.iter().any(|part| is_company(part)) && !is_company(&chunks[other])
            {
                return from_parts(parts, None);
            }
            Named {
                main: Some(parts.join(", ")),
                organisation: company_of(&chunks[other]),
                title_first: Some(title < other),
            }
        }
        None => from_parts(parts, title_first),
    }
}

/// The title and the company of one text with commas.
fn from_parts(mut parts: Vec<String>, title_first: Option<bool>) -> Named {
    let at = parts
        .iter()
        .position(|part| names_role(part) && !is_company(part))
        .or_else(|| parts.iter().position(|part| names_role(part)));
    let Some(at) = at else { return without_role(parts, title_first) };
    let main = parts.remove(at);
    let company = parts.iter().position(|part| is_company(part)).unwrap_or(0);
    let title_first = (!parts.is_empty()).then_some(at <= company);
    Named { main: Some(main), organisation: parts.into_iter().nth(company), title_first }
}

/// Names of which none has the noun of a role.
fn without_role(names: Vec<String>, title_first: Option<bool>) -> Named {
    let names = match names.as_slice() {
        [one] => without_places(commas(one)),
        _ => names,
    };
    let company = match names.iter().position(|name| is_company(name)) {
        Some(at) => Some(at),
        None if names.len() > 1 && title_first == Some(false) => Some(0),
        None => names.get(1).map(|_| 1),
    };
    let title = (0..names.len()).find(|at| Some(*at) != company);
    Named {
        main: title.map(|at| names[at].clone()),
        organisation: company.and_then(|at| company_of(&names[at])),
        title_first: None,
    }
}

/// A company without the place behind a comma.
fn company_of(chunk: &str) -> Option<String> {
    let parts = commas(chunk);
    let at = parts.iter().position(|part| is_company(part)).unwrap_or(0);
    parts.into_iter().nth(at)
}

/// Parts without the places at their end.
pub(super) fn without_places(mut parts: Vec<String>) -> Vec<String> {
    loop {
        let last_two = parts.len().checked_sub(2).map(|at| parts[at..].join(", "));
        if parts.len() > 2
            && last_two.is_some_and(|place| {
                is_place(&place)
                    && !is_company(&place)
                    && !names_role(&place)
                    && !names_study(&place)
            })
        {
            parts.truncate(parts.len() - 2);
        } else if parts.len() > 1 && parts.last().is_some_and(|place| is_place(place)) {
            parts.pop();
        } else {
            return parts;
        }
    }
}

/// Grades after a degree: "B.S. in Physics; GPA: 3.9/4.0".
static GRADE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\s*[;,|(–-]\s*(?:overall\s+)?(?:c?gpa|(?:final\s+)?grade|note|abschlussnote|nota|mention)\b[:\s].*$",
    )
});

/// The degree and the institution among names.
pub(super) fn study_names(names: &[String]) -> Named {
    let names: Vec<String> =
        names.iter().map(|name| GRADE.replace(name, "").into_owned()).collect();
    let chunks = all_chunks(&names);
    let institution = chunks.iter().position(|name| is_institution(name) && !is_degree(name));
    let degree =
        chunks.iter().enumerate().position(|(at, name)| is_degree(name) && Some(at) != institution);
    if let (Some(institution), Some(degree)) = (institution, degree) {
        let parts = without_places(commas(&chunks[degree]));
        // The chunk of the degree may name its institution as well, and the other one a faculty.
        if !parts.iter().any(|part| is_institution(part)) {
            let organisation = commas(&chunks[institution]);
            let at = organisation.iter().position(|part| is_institution(part)).unwrap_or(0);
            return Named {
                main: Some(parts.join(", ")),
                organisation: organisation.into_iter().nth(at),
                title_first: Some(degree < institution),
            };
        }
    }
    let parts: Vec<String> = if chunks.len() > 1 && chunks.iter().all(|chunk| !chunk.contains(", "))
    {
        chunks
    } else {
        chunks.iter().flat_map(|chunk| without_places(commas(chunk))).collect()
    };
    study_parts(&parts)
}

fn study_parts(names: &[String]) -> Named {
    let institution = names
        .iter()
        .position(|name| is_institution(name) && !is_degree(name))
        .or_else(|| names.iter().position(|name| is_institution(name)));
    let degree =
        names.iter().enumerate().position(|(at, name)| is_degree(name) && Some(at) != institution);
    let other = |taken: Option<usize>| (0..names.len()).find(|at| Some(*at) != taken);
    let degree = degree.or_else(|| other(institution));
    let institution = institution.or_else(|| other(degree));
    // "BSc, Computer Science, University": the subject belongs to the degree.
    let subject = degree.and_then(|at| {
        names
            .get(at + 1)
            .filter(|_| Some(at + 1) != institution && names.len() > 2 && is_short(&names[at]))
    });
    let text = |at: Option<usize>| at.map(|at| names[at].clone());
    let main = match (text(degree), subject) {
        (Some(degree), Some(subject)) => Some(format!("{degree} {subject}")),
        (degree, _) => degree,
    };
    Named { main, organisation: text(institution), title_first: None }
}

fn is_short(degree: &str) -> bool {
    degree.split_whitespace().count() == 1
}
