//! People, places, organisations and peoples: runs of capitalised words, judged by lists and by the words around them.

mod cues;
mod foreign;
mod runs;
mod verdict;

use std::ops::Range;

use super::case::Case;
use super::languages::Words;
use super::lists;
use super::parts::Part;
use super::titles::is_job;
use super::tokens::Token;
use super::{Finding, Kind};
use runs::{Run, runs};
use verdict::{Verdict, postcode_after, verdict};

pub(super) fn find(
    text: &str,
    tokens: &[Token],
    parts: &[Part],
    taken: &[Range<usize>],
    found: &mut Vec<Finding>,
) {
    let mut foreign = Vec::new();
    for (part, case) in parts {
        let words = match case {
            Case::Foreign(language) => language.and_then(Words::of),
            _ => None,
        };
        match words {
            Some(words) => foreign.push((part.clone(), words)),
            None => {
                let taken = within(taken, part);
                find_in(&tokens[part.clone()], *case, &taken, found);
            }
        }
    }
    if !foreign.is_empty() {
        foreign::find(text, tokens, &foreign, taken, found);
    }
}

/// The ranges within a part, counted from its beginning. All are in order, and there may be as many parts as ranges.
fn within(ranges: &[Range<usize>], part: &Range<usize>) -> Vec<Range<usize>> {
    let cut = |range: &Range<usize>| {
        range.start.max(part.start) - part.start
            ..range.end.min(part.end).max(part.start) - part.start
    };
    let from = ranges.partition_point(|range| range.end <= part.start);
    ranges[from..].iter().take_while(|range| range.start < part.end).map(cut).collect()
}

/// A part in English, or in a language of which nothing is known.
fn find_in(tokens: &[Token], case: Case, taken: &[Range<usize>], found: &mut Vec<Finding>) {
    let runs = runs(tokens, case, taken);
    let mut verdicts: Vec<(Run, Verdict)> = Vec::new();
    for run in runs {
        let previous = verdicts.last().map(|(run, verdict)| (run.tokens.clone(), verdict.kind));
        if let Some(verdict) = judge(tokens, &run, case, previous) {
            verdicts.push((run, verdict));
        }
    }
    settle_lists(tokens, &mut verdicts);
    peoples(tokens, found);
    for (run, verdict) in &verdicts {
        let place = tokens[run.tokens.start].start..tokens[run.tokens.end - 1].end;
        found.push(Finding::new(verdict.kind, place, verdict.confidence, verdict.reason));
        if verdict.kind == Kind::Gpe {
            postcode_after(tokens, run.tokens.end, found);
        }
    }
}

/// A name in one list with a sure company is a company as well.
fn settle_lists(tokens: &[Token], verdicts: &mut [(Run, Verdict)]) {
    for at in (1..verdicts.len()).rev() {
        let (earlier, later) = verdicts.split_at_mut(at);
        let ((before, weak), (run, strong)) = (&mut earlier[at - 1], &later[0]);
        let listed = cues::continues(tokens, &before.tokens, Kind::Organization, run)
            == Some(Kind::Organization);
        if listed
            && strong.kind == Kind::Organization
            && weak.kind == Kind::Person
            && weak.confidence < 0.8
        {
            *weak = Verdict {
                kind: Kind::Organization,
                confidence: 0.6,
                reason: "in a list with a company",
            };
        }
    }
}

/// Peoples and faiths in lower case; `polish` is another word then.
fn peoples(tokens: &[Token], found: &mut Vec<Finding>) {
    for (at, token) in tokens.iter().enumerate() {
        if token.is_word()
            && !token.capital
            && token.lower.len() > 3
            && lists::is_people(&token.lower)
            && !lists::is_word(&token.lower)
            && !cues::is_language_at(tokens, at)
        {
            found.push(Finding::new(
                Kind::Nrp,
                token.start..token.end,
                0.75,
                "name of a people or faith",
            ));
        }
    }
}

fn judge(
    tokens: &[Token],
    run: &Run,
    case: Case,
    previous: Option<(Range<usize>, Kind)>,
) -> Option<Verdict> {
    let facts = Facts::of(tokens, run);
    if facts.job {
        return verdict(Kind::Title, 0.75, "job title");
    }
    if facts.company {
        return verdict(Kind::Organization, 0.85, "word for a company or institution");
    }
    if facts.people {
        return (!cues::is_language(tokens, run))
            .then_some(())
            .and_then(|()| verdict(Kind::Nrp, 0.8, "name of a people or faith"));
    }
    if facts.country {
        let nationality = cues::is_adjective(tokens, run);
        return if nationality {
            verdict(Kind::Nrp, 0.6, "country before a noun")
        } else {
            verdict(Kind::Gpe, 0.9, "country or state")
        };
    }
    if let Some(kind) = cues::sure(tokens, run) {
        return verdict(kind, 0.85, "words before it say what it is");
    }
    if cues::is_employer_line(tokens, run) {
        return verdict(Kind::Organization, 0.66, "line below a job title");
    }
    if cues::is_place_line(tokens, run) {
        return verdict(Kind::Gpe, 0.66, "line between an address and a country");
    }
    if facts.partners {
        return verdict(Kind::Organization, 0.64, "two family names with a hyphen");
    }
    if let Some((at, kind)) = previous
        // A full name ends a list of companies: `between Zentrixo Ltd and Ana Reyes`.
        && !(kind == Kind::Organization && facts.given && facts.words > 1)
        && let Some(kind) = cues::continues(tokens, &at, kind, run)
    {
        return verdict(kind, 0.65, "in a list or block with the one before");
    }
    let hint = cues::hint(tokens, run);
    if facts.city && facts.words > 1 && hint != Some(Kind::Person) {
        return verdict(Kind::Gpe, 0.75, "name of a city");
    }
    // A sender or a subject: `a letter from Torben`, where no place has that name.
    if !facts.city && hint == Some(Kind::Gpe) && cues::is_sender(tokens, run, facts.given) {
        return verdict(Kind::Person, 0.66, "given name of a sender");
    }
    if facts.given && (facts.words > 1 || hint.is_none_or(|hint| hint == Kind::Person)) {
        let confidence = if facts.words > 1 { 0.85 } else { 0.7 };
        return verdict(Kind::Person, confidence, "given name");
    }
    // `than Leeds`, `Ana from Leeds`: the weak cues of people and companies yield to a list of places.
    let place = facts.city && !facts.given && !facts.family;
    if place && (hint == Some(Kind::Person) || hint.is_some() && cues::is_origin(tokens, run)) {
        return verdict(Kind::Gpe, 0.64, "name of a city");
    }
    if let Some(kind) = hint {
        let known = match kind {
            Kind::Gpe => facts.city,
            Kind::Person => facts.family || facts.given,
            _ => false,
        };
        let confidence = if known { 0.8 } else { 0.62 };
        return (!facts.ordinary || known)
            .then_some(())
            .and_then(|()| verdict(kind, confidence, "words around it"));
    }
    rest(&facts, run, case)
}

/// The verdict of the name lists alone.
fn rest(facts: &Facts, run: &Run, case: Case) -> Option<Verdict> {
    if facts.ordinary && !(facts.family && facts.words == 2) {
        return None;
    }
    if facts.city && !facts.family {
        return verdict(Kind::Gpe, 0.65, "name of a city");
    }
    if facts.family && !(run.first && facts.words == 1 && facts.ordinary) {
        return verdict(Kind::Person, 0.62, "family name");
    }
    if case != Case::Usual {
        return None;
    }
    match facts.words {
        1 if facts.short => None,
        1 => verdict(Kind::Person, 0.5, "capitalised word that is no English word"),
        2 | 3 => verdict(Kind::Person, 0.52, "capitalised words that are no English words"),
        _ => verdict(Kind::Organization, 0.5, "capitalised words"),
    }
}

/// What the lists say about a run.
struct Facts {
    words: usize,
    given: bool,
    family: bool,
    city: bool,
    country: bool,
    people: bool,
    company: bool,
    /// `Hall-Petrov`: companies are named so, people have a given name before it.
    partners: bool,
    /// English words that end in a job.
    job: bool,
    /// Every word is English, and none is a usual given name.
    ordinary: bool,
    /// An abbreviation in capitals.
    short: bool,
}

impl Facts {
    fn of(tokens: &[Token], run: &Run) -> Self {
        let words: Vec<&Token> =
            tokens[run.tokens.clone()].iter().filter(|token| token.is_word()).collect();
        let phrase = words.iter().map(|token| token.lower.as_str()).collect::<Vec<_>>().join(" ");
        let ordinary = words.iter().all(|token| lists::is_prose(&token.lower));
        let first = words.first().map_or(0, |token| lists::name(&token.lower));
        // `Olive Oil` and `Grace Period`: only English words, of which none is a family name.
        let prose = ordinary
            && words.len() > 1
            && words[1..].iter().all(|token| lists::name(&token.lower) & lists::FAMILY == 0);
        let sure_given = first & lists::GIVEN != 0
            && !prose
            && !(words.len() == 1 && ordinary && words[0].upper);
        let family = words.iter().any(|token| {
            lists::name(&token.lower) & lists::FAMILY != 0 && !lists::is_word(&token.lower)
        });
        let people = words.len() <= 2
            && (lists::is_people(&phrase)
                || words.len() == 1 && lists::is_people(words[0].lower.as_str()));
        Self {
            words: words.len(),
            given: sure_given,
            family,
            city: lists::is_city(&phrase),
            country: lists::is_country(&phrase),
            people,
            company: run.company || cues::is_company(&words),
            partners: words.len() == 1 && is_pair_of_families(&words[0].lower),
            job: words.len() > 1
                && ordinary
                && !sure_given
                && words.last().is_some_and(|last| is_job(&last.lower)),
            ordinary: ordinary && !sure_given,
            short: words.len() == 1 && words[0].upper && words[0].lower.chars().count() <= 5,
        }
    }
}

/// `hall-petrov`, but not `jean-luc` or `aix-en-provence`.
fn is_pair_of_families(word: &str) -> bool {
    let mut parts = word.split('-');
    let (Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let family = |part: &str| lists::name(part) & lists::FAMILY != 0;
    let given = |part: &str| lists::name(part) & lists::GIVEN != 0;
    family(first) && family(second) && !(given(first) && given(second)) && !lists::is_city(word)
}
