//! Whether a text describes a job at all, and what a candidate should be careful about.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Job;
use super::header::{addresses_all_genders, names_role};
use super::lines::Line;
use super::words::{Field, Section};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The pay is not stated.
    NoPay,
    /// The work is not paid.
    Unpaid,
    /// Candidates are asked to pay.
    Fee,
    /// Candidates are asked to write by a private messenger.
    PrivateMessenger,
}

/// What a candidate should be careful about, and where the text says so, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub kind: FindingKind,
    pub start: usize,
    pub end: usize,
}

/// Evidence that is needed for a job.
const ENOUGH: usize = 4;

fn pattern(source: &str) -> Regex {
    // cannot fail: the patterns are constants, and a test uses them.
    Regex::new(source).expect("a pattern that compiles")
}

static FINDINGS: LazyLock<[(FindingKind, Regex); 3]> = LazyLock::new(|| {
    [
        (
            FindingKind::Unpaid,
            pattern(
                r"(?i)\bunpaid\b|\bno\s+(?:salary|pay|remuneration)\b|\bwithout\s+(?:pay|salary)\b|\bvoluntary\s+(?:role|position|basis)|\bunbezahlt\w*|\bohne\s+(?:vergütung|bezahlung)\b|\bnon\s+(?:rémunérée?|payée?)|\bbénévole\b|\bno\s+remunerad[oa]s?\b|\bsin\s+(?:remuneración|sueldo|salario)\b|\bcommission[- ]only\b",
            ),
        ),
        (
            FindingKind::Fee,
            pattern(
                r"(?i)\b(?:registration|application|processing|training|onboarding|admin(?:istration)?|starter\s+kit|background\s+check|visa)\s+(?:fee|deposit|cost|charge)s?\b|\b(?:refundable|security|upfront|advance)\s+(?:deposit|payment|fee)\b|\bpay\s+(?:a|an|the)\s+(?:small\s+)?(?:fee|deposit)\b|\b(?:buy|purchase|order|pay\s+for)\s+(?:an?|the|our|your)\s+(?:own\s+)?(?:starter|training|welcome|business|work)\s+(?:kit|package|pack|set|materials?|course)\b|\bstarterpaket\b|\b(?:bearbeitungs|anmelde|bewerbungs|schulungs|vermittlungs)gebühr(?:en)?\b|\bkaution\b|\bvorkasse\b|\bfrais\s+(?:de\s+dossier|d['’]inscription|d['’]entrée)|\bcuota\s+de\s+(?:inscripción|registro)|\bpago\s+(?:previo|por\s+adelantado)",
            ),
        ),
        (
            FindingKind::PrivateMessenger,
            pattern(
                r"(?i)\b(?:whats\s?app|telegram|wechat|viber|snapchat|(?:via|on|auf|per|por|sur)\s+signal|facebook\s+messenger)\b|\bt\.me/\w+|\bwa\.me/\w+",
            ),
        ),
    ]
});

static APPLICATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:apply|applications?|applicants?|candidates?|cv|résumé|cover\s+letter|vacancy|job|bewirb|bewerbung(?:en)?|bewerben|stelle|candidature|postulez|cvs?|envoyez|postular|candidatos?|solicitud|envía|curriculum|equal\s+opportunity|join\s+(?:us|our)|want(?:ed)|hiring|gesucht|stellenanzeige)\b|please\s+send",
    )
});

static DATE_RANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:19|20)\d\d\s*(?:–|-|—|to|bis|à|a)\s*(?:\p{L}+\s*)?(?:(?:19|20)\d\d|[Pp]resent|heute|[Nn]ow|[Aa]ctual)|@\w",
    )
});

/// Whether the text has enough evidence of a job.
pub(super) fn is_job(text: &str, lines: &[Line], job: &Job, listed: bool, hiring: bool) -> bool {
    let title = job.title.as_deref();
    let keys = |field: Field| {
        usize::from(
            lines.iter().any(|line| line.field.as_ref().is_some_and(|(name, _)| *name == field)),
        )
    };
    let section = |section: Section| lines.iter().any(|line| line.section == section);
    let mut evidence =
        usize::from(hiring) * 3 + usize::from(title.is_some_and(names_role)) + usize::from(listed);
    evidence += usize::from(section(Section::Must))
        + usize::from(section(Section::Nice))
        + usize::from(section(Section::Responsibilities));
    evidence += usize::from(!job.must.is_empty())
        + usize::from(job.years.is_some())
        + usize::from(job.pay.is_some());
    evidence += usize::from(job.remote.is_some())
        + usize::from(job.contract.is_some())
        + usize::from(APPLICATION.is_match(text));
    evidence += [Field::Title, Field::Company, Field::Location, Field::Pay, Field::Contract]
        .into_iter()
        .map(keys)
        .sum::<usize>();
    evidence += usize::from(addresses_all_genders(text)) * 2;
    // Dubious offers say little else.
    evidence += usize::from(FINDINGS.iter().any(|(_, pattern)| pattern.is_match(text)));
    // Periods of employment and addresses are those of a résumé.
    let resume = DATE_RANGE.find_iter(text).take(8).count();
    // "A packer for trees" describes a thing.
    let names_thing = |title: &str| title.starts_with("A ") || title.starts_with("An ");
    let known = |title: &str| {
        keys(Field::Title) > 0
            || addresses_all_genders(text)
            || names_role(title) && !names_thing(title)
    };
    title.is_some_and(|title| known(title) || confirms_title(lines, job, hiring))
        && evidence >= ENOUGH + resume.saturating_sub(1) * 2
}

/// Whether the rest of a description is one of a job, so that its title needs no noun of a role.
fn confirms_title(lines: &[Line], job: &Job, hiring: bool) -> bool {
    let has = |section: Section| lines.iter().any(|line| line.section == section);
    let said = [
        hiring,
        job.years.is_some(),
        job.pay.is_some(),
        job.remote.is_some(),
        job.contract.is_some(),
        has(Section::Responsibilities),
    ];
    !job.must.is_empty() && said.into_iter().filter(|said| *said).count() >= 2
}

/// What a candidate should be careful about, in order.
pub(super) fn findings(text: &str, paid: bool) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (kind, pattern) in FINDINGS.iter() {
        findings.extend(pattern.find_iter(text).take(20).map(|found| {
            let start = text[..found.start()].chars().count();
            Finding { kind: *kind, start, end: start + found.as_str().chars().count() }
        }));
    }
    findings.sort_by_key(|finding| finding.start);
    if !paid && findings.iter().all(|finding| finding.kind != FindingKind::Unpaid) {
        findings.push(Finding { kind: FindingKind::NoPay, start: 0, end: 0 });
    }
    findings
}
