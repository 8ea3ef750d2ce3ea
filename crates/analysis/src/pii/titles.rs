//! Forms of address and job titles.

use super::lists;
use super::tokens::Token;
use super::{Finding, Kind};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Forms of address before a name.
pub(super) static ADDRESSES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    lists::set(
        "mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|lady|lord|rev|reverend|hon|judge|capt|captain|sgt|\
     sergeant|lt|lieutenant|col|colonel|gen|general|herr|frau|monsieur|madame|mme|mlle|señor|señora|sr|\
     sra|don|doña|signor|signora|sig|dott|ing|president|senator|minister|king|queen|prince|princess|\
     father|sister|saint",
    )
});

/// Only these are titles in the sense of the type; a senator's office is not.
static MARKED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    lists::set(
        "mr|mrs|ms|miss|mx|dr|prof|professor|sir|rev|hon|herr|frau|monsieur|madame|mme|mlle|señor|señora|\
     señorita|signor|signora|lady|lord|capt|captain",
    )
});

/// The last words of job titles.
static JOBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    lists::set(
        "accountant|actor|actress|actuary|administrator|advisor|adviser|agent|analyst|animator|appraiser|\
     archaeologist|architect|archivist|artist|assembler|assistant|associate|astronomer|attendant|\
     attorney|auditor|author|baker|banker|barber|barista|bartender|biologist|bookkeeper|broker|builder|\
     butcher|buyer|carpenter|cashier|ceo|cfo|chef|chemist|chiropractor|cleaner|clerk|coach|collector|\
     composer|conductor|consultant|contractor|controller|cook|coordinator|coo|copywriter|counselor|\
     counsellor|cto|curator|custodian|dancer|dealer|dentist|designer|developer|dietitian|director|\
     dispatcher|doctor|drafter|driver|economist|editor|educator|electrician|engineer|estimator|examiner|\
     executive|farmer|firefighter|fisherman|fitter|gardener|geologist|geographer|glazier|guard|guide|\
     hairdresser|handler|historian|housekeeper|hygienist|illustrator|inspector|installer|instructor|\
     interpreter|investigator|janitor|journalist|judge|laborer|labourer|landscaper|lawyer|lecturer|\
     librarian|linguist|machinist|manager|marketer|mason|mechanic|mediator|merchandiser|midwife|miner|\
     model|musician|nurse|nutritionist|officer|operator|optician|optometrist|packer|painter|paralegal|\
     paramedic|pastor|pathologist|pharmacist|photographer|physician|physicist|physiotherapist|pilot|\
     planner|plumber|policeman|porter|practitioner|preparer|president|principal|processor|producer|\
     professor|programmer|promoter|psychiatrist|psychologist|purchaser|radiographer|realtor|receptionist|\
     recruiter|repairer|reporter|representative|researcher|roofer|sailor|salesman|salesperson|scientist|\
     secretary|setter|singer|sociologist|soldier|specialist|statistician|steward|stylist|superintendent|\
     supervisor|surgeon|surveyor|tailor|teacher|technician|technologist|teller|tester|therapist|trader|\
     trainer|translator|tutor|undertaker|vet|veterinarian|waiter|waitress|welder|worker|writer|zoologist|\
     aide|dressmaker|upholsterer|tuner|dyer|projectionist|investor|broadcaster|warden|keeper|trooper|\
     detective|erector|grader|hostess|host|logger|weaver|presser|sawyer",
    )
});

pub(super) fn is_job(word: &str) -> bool {
    JOBS.contains(word) || word.strip_suffix('s').is_some_and(|one| JOBS.contains(one))
}

pub(super) fn find(tokens: &[Token], found: &mut Vec<Finding>) {
    for (index, token) in tokens.iter().enumerate() {
        if !token.is_word() {
            continue;
        }
        if MARKED.contains(token.lower.as_str()) {
            form_of_address(tokens, index, found);
        } else if is_job(&token.lower) {
            job(tokens, index, found);
        }
    }
}

fn form_of_address(tokens: &[Token], index: usize, found: &mut Vec<Finding>) {
    let token = &tokens[index];
    let dot = tokens.get(index + 1).filter(|next| next.is_mark('.') && next.start == token.end);
    let next = tokens.get(index + 1 + usize::from(dot.is_some()));
    let named = next.is_some_and(|next| next.is_word() && next.capital);
    // `la señora Ibarra`, and a text without capitals.
    let foreign = named && token.lower.len() > 3 && !lists::is_word(&token.lower);
    let small = next.is_some_and(|next| {
        next.is_word()
            && !next.capital
            && lists::name(&next.lower) != 0
            && !lists::is_word(&next.lower)
    });
    if token.capital && named || !token.capital && (foreign || small) {
        let place = token.start..dot.map_or(token.end, |dot| dot.end);
        found.push(Finding::new(Kind::Title, place, 0.8, "form of address before a name"));
    }
}

/// A job on a line of its own, or after words that introduce one.
fn job(tokens: &[Token], index: usize, found: &mut Vec<Finding>) {
    let mut from = index;
    while from > 0
        && index - from < 7
        && (tokens[from - 1].is_word()
            || tokens[from - 1].is_mark(',')
            || tokens[from - 1].is_mark('/'))
    {
        from -= 1;
    }
    let own_line = (from == 0 || tokens[from - 1].is_break())
        && tokens.get(index + 1).is_none_or(Token::is_break)
        && from + 8 > index
        && tokens[from].is_word();
    if own_line {
        let place = tokens[from].start..tokens[index].end;
        found.push(Finding::new(Kind::Title, place, 0.8, "job title on a line of its own"));
        return;
    }
    if opens_sentence(tokens, from, index) {
        let place = tokens[from].start..tokens[index].end;
        found.push(Finding::new(Kind::Title, place, 0.72, "job title before a name"));
        return;
    }
    let article = (index.saturating_sub(6)..index).rev().find(|at| {
        ["a", "an", "the", "as", "our", "my", "is", "job", "title", "position", "role"]
            .contains(&tokens[*at].lower.as_str())
            || tokens[*at].is_mark(':')
    });
    let Some(article) = article else { return };
    let plain = tokens[article + 1..=index]
        .iter()
        .all(|token| token.is_word() && !STOPS.contains(&token.lower.as_str()));
    let before = article.checked_sub(1).map(|at| tokens[at].lower.as_str());
    let capital = tokens[article + 1].capital;
    let introduced = matches!(tokens[article].lower.as_str(), "a" | "an" | "the" | "as")
        && before.is_some_and(|word| {
            [
                "as", "is", "was", "am", "i'm", "a", "become", "became", "hired", "he's", "she's",
                "being",
            ]
            .contains(&word)
        });
    let labelled = tokens[article].is_mark(':')
        && before.is_some_and(|word| {
            ["title", "position", "role", "occupation", "job", "profession"].contains(&word)
        });
    if plain && (introduced || labelled || capital && tokens[index].capital) {
        let place = tokens[article + 1].start..tokens[index].end;
        found.push(Finding::new(Kind::Title, place, 0.7, "job title"));
    }
}

/// `Marine biologist Ana Reyes said`: English words in lower case between the beginning of a sentence and a name.
fn opens_sentence(tokens: &[Token], from: usize, index: usize) -> bool {
    let name = tokens.get(index + 1).filter(|name| name.is_word() && name.capital && !name.first);
    let named = name.is_some_and(|name| {
        lists::name(&name.lower) & lists::GIVEN != 0
            || !lists::is_word(&name.lower) && name.lower.chars().all(char::is_alphabetic)
    });
    named
        && tokens[from].first
        && tokens[from].capital
        && tokens[from + 1..=index].iter().all(|token| token.is_word() && !token.capital)
        && tokens[from..=index].iter().all(|token| {
            lists::is_word(&token.lower)
                && !STOPS.contains(&token.lower.as_str())
                && !BEFORE_JOBS.contains(&token.lower.as_str())
        })
}

/// Words before a job that are no part of it.
static BEFORE_JOBS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    lists::list(
        "my|our|your|his|her|their|its|a|an|this|these|every|each|no|dear|please|is|was|are|when|if|as|but|\
         because|then|now|here|both|not|so|hi|hello|meet|ask|tell|call|thank|thanks|only|after|before|on",
    )
});

static STOPS: LazyLock<Vec<&str>> =
    LazyLock::new(|| lists::list("and|of|the|to|in|for|with|who|that|by|at|from"));
