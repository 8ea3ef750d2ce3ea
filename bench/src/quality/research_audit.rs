//! The citation audit over labelled texts, and the support of labelled claims.

use std::path::Path;

use anyhow::ensure;
use citations::{Finding, FindingKind, Style, audit};
use language::passages::passages;
use language::similarity::support;
use serde::Deserialize;

use super::json_lines::lines;

/// How many passages of a source are compared with a claim, as in the audit.
const PASSAGES: usize = 3;

/// Figures over a folder, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AuditFigures {
    pub(super) audit_precision: f64,
    pub(super) audit_recall: f64,
    pub(super) support_auc: f64,
}

/// A text, and what a librarian would find in it. Its style is for the audit to find out.
#[derive(Debug, Deserialize)]
struct Labelled {
    markdown: String,
    findings: Vec<Label>,
}

/// A finding about a reference, or about the place that `at` quotes.
#[derive(Debug, Deserialize)]
struct Label {
    kind: FindingKind,
    reference: Option<usize>,
    at: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Claim {
    claim: String,
    source_text: String,
    supported: bool,
}

/// Audits `references.jsonl` and scores `claims.jsonl` of the folder; none if it has neither.
pub(super) fn measure(folder: &Path) -> anyhow::Result<Option<AuditFigures>> {
    let (references, claims) = (folder.join("references.jsonl"), folder.join("claims.jsonl"));
    if !references.exists() && !claims.exists() {
        return Ok(None);
    }
    let (audit_precision, audit_recall) = precision_and_recall(&lines(&references)?);
    let support_auc = auc(&lines(&claims)?)?;
    Ok(Some(AuditFigures { audit_precision, audit_recall, support_auc }))
}

/// The share of findings that are expected, and of expected ones that were found.
fn precision_and_recall(texts: &[Labelled]) -> (f64, f64) {
    let (mut right, mut found, mut expected) = (0_usize, 0_usize, 0_usize);
    for text in texts {
        let mut open: Vec<&Label> = text.findings.iter().collect();
        let findings = audit(&text.markdown, &[], Style::Auto).findings;
        found += findings.len();
        expected += open.len();
        for finding in &findings {
            if let Some(at) = open.iter().position(|label| label.fits(finding, &text.markdown)) {
                open.swap_remove(at);
                right += 1;
            }
        }
    }
    let share = |of: usize| if of == 0 { 100.0 } else { percent(right as f64 / of as f64) };
    (share(found), share(expected))
}

impl Label {
    fn fits(&self, finding: &Finding, markdown: &str) -> bool {
        self.kind == finding.kind
            && self.reference.is_none_or(|reference| finding.reference == Some(reference))
            && self.at.as_deref().is_none_or(|at| is_at(finding, at, markdown))
    }
}

/// Whether a finding is about a quoted place. Offsets count code points.
fn is_at(finding: &Finding, at: &str, markdown: &str) -> bool {
    let Some((offset, byte)) = finding.offset.zip(markdown.find(at)) else { return false };
    let start = markdown[..byte].chars().count();
    (start.saturating_sub(1)..start + at.chars().count()).contains(&offset)
}

/// How often a supported claim scores higher than one that is not.
fn auc(claims: &[Claim]) -> anyhow::Result<f64> {
    let score = |claim: &&Claim| {
        let best = passages(&claim.source_text, &claim.claim).into_iter().take(PASSAGES);
        best.map(|passage| support(&claim.claim, passage.text)).fold(0.0, f64::max)
    };
    let (yes, no): (Vec<_>, Vec<_>) = claims.iter().partition(|claim| claim.supported);
    ensure!(!yes.is_empty() && !no.is_empty(), "claims of both kinds are needed");
    let (yes, no): (Vec<f64>, Vec<f64>) =
        (yes.iter().map(score).collect(), no.iter().map(score).collect());
    let mut won = 0.0;
    for high in &yes {
        for low in &no {
            won += match high.total_cmp(low) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    Ok(percent(won / (yes.len() * no.len()) as f64))
}

fn percent(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0
}
