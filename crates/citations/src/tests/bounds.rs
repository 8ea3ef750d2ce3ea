use std::time::{Duration, Instant};

use proptest::prelude::{any, prop, proptest};

use super::check;
use crate::{FindingKind, Status, Style, audit};

/// Generous, because tests are not optimised: what is quadratic takes hours on these inputs.
const LIMIT: Duration = Duration::from_secs(60);

fn in_time(markdown: &str) -> crate::Audit {
    let start = Instant::now();
    let audit = check(markdown);
    assert!(start.elapsed() < LIMIT, "{:?} for {}…", start.elapsed(), &markdown[..40]);
    audit
}

#[test]
fn many_references_take_bounded_time() {
    let list: String = (1..=12_000)
        .map(|n| format!("[{n}] Doe, J. (2020). Title of work {n}. *Journal*, 1, 1–2.\n\n"))
        .collect();
    let audit = in_time(&format!("Hot [1–400] (Doe, 2020).\n\n## References\n\n{list}"));
    assert_eq!(audit.references.len(), 10_000);
    assert_eq!(audit.warnings.len(), 1);
}

#[test]
fn a_huge_reference_is_malformed() {
    let audit = in_time(&format!("Hot [1].\n\n## References\n\n1. {}\n", "x".repeat(64 << 10)));
    assert_eq!(audit.references[0].status, Status::Malformed);
    assert!(audit.references[0].raw.len() < 4_096);
    assert_eq!(audit.findings[0].kind, FindingKind::MalformedReference);
}

#[test]
fn endless_lines_take_bounded_time() {
    let list = "\n\n## References\n\nDoe, J. (2020). One thing. *Journal*, 1, 1–2.\n";
    for unit in [
        "(",
        "[",
        "(2020",
        "Doe (2020) ",
        "(Doe, 2020; ",
        "\u{200b}",
        "*",
        "`",
        "<sup>",
        "A B C D ",
        "[^1]",
        "熱",
        ". ",
        "http://",
        "1. ",
    ] {
        in_time(&format!("{}{list}", unit.repeat((256 << 10) / unit.len())));
    }
}

proptest! {
    #[test]
    fn any_text_is_audited(text in any::<String>(), style in 0..4) {
        let style = [Style::Auto, Style::Apa, Style::Mla, Style::Numeric][style as usize];
        audit(&text, &[], style);
    }

    #[test]
    fn findings_stay_in_the_text(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "Heat ", "(Doe, 2020)", "[1]", "[^1]", "[^1]: note\n", "\n\n", "\n", "## References\n\n", "Doe, J. (2020). One. *J*, 1, 2.\n", "1. ", "- ",
                "**References**\n\n", "\"", "(", ")", "Doe et al. (2019) ", "; ", "é", "😀", "```\n", "50% of all people in the city live here. ",
                "https://example.org/a ", "<sup>1</sup>", "(Doe 12) ", "Works Cited\n\n",
            ]),
            0..40,
        ),
    ) {
        let text: String = parts.concat();
        let length = text.chars().count();
        let audit = check(&text);
        for citation in &audit.citations {
            let marker: String = text.chars().skip(citation.offset).take(citation.length).collect();
            assert_eq!(marker, citation.marker);
            assert!(citation.reference.is_none_or(|at| (1..=audit.references.len()).contains(&at)));
        }
        for finding in &audit.findings {
            assert!(finding.offset.is_none_or(|offset| offset <= length));
        }
        assert_eq!(check(&text), audit);
    }
}
