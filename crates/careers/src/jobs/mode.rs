//! Where and how one works: remote or not, the contract, and the level of a title.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remote {
    Remote,
    Hybrid,
    Onsite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Junior,
    Mid,
    Senior,
    Lead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    Internship,
    Apprenticeship,
    Freelance,
    Temporary,
    Permanent,
    PartTime,
    FullTime,
}

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

/// In order: the first that is found counts.
static REMOTE: LazyLock<[(Remote, Regex); 4]> = LazyLock::new(|| {
    [
        (
            Remote::Onsite,
            pattern(
                r"(?i)\b(?:no|not|kein(?:e|en)?|pas\s+de|sin)\s+(?:remote|home[- ]?office|télétravail|teletrabajo|wfh)\b|remote\s+(?:work(?:ing)?\s+)?is\s+not\s+|(?:100\s?%|fully|full[- ]time)\s+(?:on[- ]?site|in[- ](?:the[- ])?office|in[- ]person)|five\s+days\s+(?:a|per)\s+week\s+(?:in\s+the\s+office|on[- ]?site)",
            ),
        ),
        (
            Remote::Hybrid,
            pattern(
                r"(?i)\bhybrid\w*|\b[1-9]\d?\s?%\s+(?:remote|home[- ]?office|télétravail|teletrabajo)|\bmobile[sn]?\s+arbeit(?:en)?\b|\bhíbrid\w*|\bpart(?:ly|ially)?[- ](?:remote|from home)|\bremote\s+(?:possible|option(?:al)?|days?|friendly)|(?:days?|tage?|jours?|días?)\s+(?:(?:a|per|each|every|pro|in\s+der|die|par|a\s+la|por)\s+)?(?:week|woche|semaine|semana)?\s*(?:(?:in|at|from|im|von|au|de|en|desde)\s+)(?:the\s+|our\s+|your\s+|la\s+)?(?:office|home|büro|homeoffice|zuhause|bureau|télétravail|oficina|casa)|teilweise\s+(?:im\s+)?(?:home[- ]?office|remote)|home[- ]?office\s+möglich|anteilig\s+(?:remote|home)|télétravail\s+(?:partiel|possible|fréquent|régulier|ponctuel|occasionnel)|teletrabajo\s+parcial|mix\s+of\s+(?:remote|home|office)|\d\s*(?:days|tage|jours|días)[^.\n]{0,20}(?:remote|home|télétravail|teletrabajo|office|büro|bureau|oficina)",
            ),
        ),
        (
            Remote::Remote,
            pattern(
                r"(?i)\b(?:fully|100\s?%|completely|entirely|permanently|all|vollständig|komplett|full)[- ]*remot[eo]|\bremote[- ](?:first|only|based|work|working|role|position|job|within|in|from|anywhere|eu|us|uk|europe|worldwide|team)|\b(?:is|are|be|work|works|working|arbeiten|totally|location)\s*:?\s+remote(?:ly)?\b|\(\s*remote\b|^\s*remot[eo]\s*(?:$|[,;(/.-])|\bremote\s*\)|[-–|,/]\s*remote\s*$|\b(?:work|working)\s+(?:from\s+)?(?:home|anywhere)\b|\bhome[- ]based\b|\bfrom\s+anywhere\b|\b(?:100\s?%\s+)?(?:home[- ]?office|télétravail|teletrabajo)\b|\b(?:en|à)\s+(?:remoto|distance)\b|100\s?%\s+à\s+distance|\bremoto\b|\bortsunabhängig\b|\bvon\s+(?:zuhause|zu\s+hause|überall)\b|\bdistributed\s+team|\btelecommut|\bdesde\s+casa\b|\bdepuis\s+chez\s+vous\b|\bremote\s*[.;]",
            ),
        ),
        (
            Remote::Onsite,
            pattern(
                r"(?i)\bon[- ]?site\b|\bin[- ](?:the[- ])?office\b|\bin[- ]person\b|\boffice[- ]based\b|\bvor\s+ort\b|\bim\s+büro\b|\bsur\s+(?:site|place)\b|\b(?:en\s+)?présentiel\b|\bau\s+bureau\b|\bpresencial\b|\ben\s+(?:la\s+)?oficina\b|\bpräsenz\b|\bat\s+our\s+(?:office|premises|site)",
            ),
        ),
    ]
});

static CONTRACT: LazyLock<[(Contract, Regex); 7]> = LazyLock::new(|| {
    [
        (
            Contract::Internship,
            pattern(r"(?i)\b(?:internship|praktikum|stage\s+de|prácticas|beca|stagiaire)\b"),
        ),
        (
            Contract::Apprenticeship,
            pattern(
                r"(?i)\b(?:apprenticeship|ausbildungsplatz|berufsausbildung|alternance|apprentissage|formación dual)\b",
            ),
        ),
        (
            Contract::Freelance,
            pattern(
                r"(?i)\b(?:freelance|freelancer|freiberuflich|self-employed|contractor|autónomo|indépendant|b2b contract)\b",
            ),
        ),
        (
            Contract::Temporary,
            pattern(
                r"(?i)\b(?:fixed[- ]term|temporary|temp role|seasonal|befristet|\d+[- ]month contract|interim|cdd|intérim|temporal|maternity cover)\b",
            ),
        ),
        (
            Contract::Permanent,
            pattern(
                r"(?i)\b(?:permanent|unbefristet(?:e[nrs]?)?|festanstellung|cdi|indefinido|contrato indefinido)\b",
            ),
        ),
        (
            Contract::PartTime,
            pattern(
                r"(?i)\b(?:part[- ]time|teilzeit|temps partiel|media jornada|tiempo parcial|jornada parcial)\b",
            ),
        ),
        (
            Contract::FullTime,
            pattern(
                r"(?i)\b(?:full[- ]time|vollzeit|temps plein|jornada completa|tiempo completo)\b",
            ),
        ),
    ]
});

static LEVEL: LazyLock<[(Level, Regex); 4]> = LazyLock::new(|| {
    [
        (
            Level::Junior,
            pattern(
                r"(?i)\b(?:junior|júnior|jr\.?|graduate|trainee|entry[- ]level|intern|apprentice|beginner|newly\s+qualified|absolvent(?:in)?|berufseinsteiger(?:in)?|werkstudent(?:in)?|praktikant(?:in)?|auszubildender?|débutante?|jeune\s+diplômée?|stagiaire|alternante?|recién\s+graduad[oa]|becari[oa]|en\s+prácticas|principiante)\b",
            ),
        ),
        (
            Level::Mid,
            pattern(
                r"(?i)\b(?:mid|mid[- ]?level|mid[- ]?weight|middle|intermediate|medior|confirmée?|semi[- ]?senior)\b",
            ),
        ),
        (
            Level::Senior,
            pattern(
                r"(?i)\b(?:senior|sénior|sr\.?|erfahrene[nr]?|expérimentée?|experimentad[oa])\b",
            ),
        ),
        (
            Level::Lead,
            pattern(
                r"(?i)\b(?:lead|principal|principale|leitende[nr]?|staff\s+(?:\w+\s+)?(?:engineer|developer|scientist|designer|architect|programmer|researcher|analyst|software|product|data|backend|frontend|platform|machine|security|site|manager))\b",
            ),
        ),
    ]
});

/// The word alone between separators: "Leeds · remote (EU time zones)".
static ALONE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?:^|[-–—|,/·•(:;])\s*remot[eo]\s*(?:$|[-–—|,;/·•().])"));

/// Office and home in one phrase: "office and home".
static BOTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:office|büro|bureau|oficina)\s*(?:and|or|und|oder|et|ou|y|o|&|/|\+)\s*(?:from\s+|im\s+|en\s+|à\s+)?(?:home|télétravail|domicile|casa|teletrabajo)|\bhome(?:[- ]?office)?\s*(?:and|or|und|oder|&|/|\+)\s*(?:the\s+|im\s+)?(?:office|büro)\b",
    )
});

/// Where one works by a text.
pub(super) fn remote(text: &str) -> Option<Remote> {
    let found =
        REMOTE.iter().find(|(_, pattern)| pattern.is_match(text)).map(|(remote, _)| *remote);
    match found {
        Some(Remote::Hybrid) => found,
        _ if BOTH.is_match(text) => Some(Remote::Hybrid),
        None if ALONE.is_match(text) => Some(Remote::Remote),
        _ => found,
    }
}

/// Where one works by the value of a key such as `Remote`.
pub(super) fn remote_value(value: &str) -> Option<Remote> {
    let lower = value.trim().trim_end_matches('.').to_lowercase();
    let first = lower.split([' ', ',', ';', '(']).next().unwrap_or("");
    match first {
        "no" | "none" | "nein" | "non" | "aucun" | "ninguno" | "kein" | "keines" => {
            Some(Remote::Onsite)
        }
        _ if PARTLY.is_match(&lower) => Some(Remote::Hybrid),
        "yes" | "ja" | "oui" | "sí" | "total" | "full" => Some(Remote::Remote),
        _ => remote(value),
    }
}

/// Some days of the week, or now and then.
static PARTLY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:[1-4]|one|two|three|four|eine?n?|zwei|drei|vier|une?|deux|trois|quatre|dos|tres|cuatro)\s*(?:days?|tagen?|jours?|días?)\b|\b(?:partial|partially|occasional|fréquent|régulier|ponctuel|partiel|partiellement|occasionnel|teilweise|gelegentlich|parcial|ocasional|possible|möglich|posible)\b",
    )
});

pub(super) fn contract(text: &str) -> Option<Contract> {
    CONTRACT.iter().find(|(_, pattern)| pattern.is_match(text)).map(|(contract, _)| *contract)
}

/// The level by the first word of a title that says one.
pub(super) fn level(title: &str) -> Option<Level> {
    let found =
        LEVEL.iter().filter_map(|(level, pattern)| Some((pattern.find(title)?.start(), *level)));
    found.min_by_key(|(at, _)| *at).map(|(_, level)| level)
}
