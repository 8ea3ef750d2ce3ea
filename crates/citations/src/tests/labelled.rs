//! The labelled sets of `examples/urban-heat/audit`.

use language::passages::passages;
use language::similarity::support;
use serde::Deserialize;

use super::check;
use crate::{Finding, FindingKind, Status};

#[derive(Deserialize)]
struct Text {
    id: String,
    held_out: bool,
    markdown: String,
    statuses: Vec<Status>,
    findings: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    kind: FindingKind,
    reference: Option<usize>,
    /// The place that it is about.
    at: Option<String>,
}

impl Label {
    fn fits(&self, finding: &Finding, markdown: &str) -> bool {
        let place = || {
            let at = self.at.as_deref()?;
            let byte = markdown.find(at)?;
            let start = markdown[..byte].chars().count();
            let end = start + at.chars().count();
            Some(finding.offset.is_some_and(|offset| offset + 1 >= start && offset < end))
        };
        self.kind == finding.kind
            && (self.reference.is_none() || self.reference == finding.reference)
            && (self.at.is_none() || place() == Some(true))
    }
}

#[test]
fn findings_are_those_that_a_librarian_expects() {
    let file = include_str!("../../../../examples/urban-heat/audit/references.jsonl");
    let texts: Vec<Text> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut right, mut found, mut expected, mut references, mut statuses) = (0, 0, 0, 0, 0);
    let mut faults = Vec::new();
    for text in &texts {
        let audit = check(&text.markdown);
        let mut open: Vec<&Label> = text.findings.iter().collect();
        for finding in &audit.findings {
            match open.iter().position(|label| label.fits(finding, &text.markdown)) {
                Some(at) => {
                    open.remove(at);
                    right += 1;
                }
                None => faults.push(format!(
                    "{}: not expected: {:?} {}",
                    text.id, finding.kind, finding.message
                )),
            }
        }
        faults.extend(open.iter().map(|label| {
            format!("{}: not found: {:?} {:?} {:?}", text.id, label.kind, label.reference, label.at)
        }));
        found += audit.findings.len();
        expected += text.findings.len();
        references += text.statuses.len();
        let shown: Vec<_> = audit.references.iter().map(|reference| reference.status).collect();
        if shown.len() != text.statuses.len() {
            faults.push(format!("{}: {} references", text.id, shown.len()));
        }
        statuses +=
            shown.iter().zip(&text.statuses).filter(|(shown, label)| shown == label).count();
    }
    assert!(references >= 200 && texts.len() >= 25 && texts.iter().any(|text| text.held_out));
    let (precision, recall) = (f64::from(right) / found as f64, f64::from(right) / expected as f64);
    assert!(
        precision >= 0.95 && recall >= 0.95 && statuses * 20 >= references * 19,
        "precision {precision}, recall {recall}, statuses {statuses}/{references}: {faults:#?}"
    );
}

#[derive(Deserialize)]
struct Claim {
    claim: String,
    source_text: String,
    supported: bool,
}

#[test]
fn supported_claims_score_higher() {
    let file = include_str!("../../../../examples/urban-heat/audit/claims.jsonl");
    let claims: Vec<Claim> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(claims.len() >= 200);
    let score = |claim: &Claim| {
        let best = passages(&claim.source_text, &claim.claim)
            .into_iter()
            .take(3)
            .map(|passage| support(&claim.claim, passage.text));
        best.fold(0.0, f64::max)
    };
    let scored: Vec<(f64, &Claim)> = claims.iter().map(|claim| (score(claim), claim)).collect();
    let (mut won, mut pairs) = (0.0, 0.0);
    for (yes, _) in scored.iter().filter(|(_, claim)| claim.supported) {
        for (no, _) in scored.iter().filter(|(_, claim)| !claim.supported) {
            pairs += 1.0;
            won += if yes > no {
                1.0
            } else if yes == no {
                0.5
            } else {
                0.0
            };
        }
    }
    let wrong: Vec<_> = scored
        .iter()
        .filter(|(score, claim)| (*score >= 0.5) != claim.supported)
        .map(|(score, claim)| (score, &claim.claim))
        .collect();
    assert!(won / pairs >= 0.85, "AUC {}: {wrong:#?}", won / pairs);
}
