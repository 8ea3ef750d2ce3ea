mod bounds;
mod labelled;

use serde_json::json;

use super::{Audit, FindingKind, SourceText, Status, Style, audit};

fn check(markdown: &str) -> Audit {
    audit(markdown, &[], Style::Auto)
}

fn kinds(audit: &Audit) -> Vec<FindingKind> {
    audit.findings.iter().map(|finding| finding.kind).collect()
}

/// Markers with the index of their reference.
fn cited(audit: &Audit) -> Vec<(&str, Option<usize>)> {
    audit.citations.iter().map(|citation| (citation.marker.as_str(), citation.reference)).collect()
}

const LIST: &str = "\n\n## References\n\nDoe, J. (2020). One thing. *Journal*, 1, 1–2.\n\nDoe, J., & Roe, R. (2021a). Two things. *Journal*, 2, 1–2.\n\n\
    Poe, E., Roe, R., & Doe, J. (n.d.). Three things. *Journal*, 3, 1–2.\n\nWorld Health Organization. (2019). *Four things*. WHO Press.\n\n\
    van der Berg, A. (1999). Five things. *Journal*, 5, 1–2.\n\n李, 明. (2018). Six things. *Journal*, 6, 1–2.\n";

#[test]
fn citations_of_authors_and_years_are_linked() {
    for (text, expected) in [
        ("Heat (Doe, 2020).", vec![("(Doe, 2020)", Some(1))]),
        ("Heat (Doe & Roe, 2021a, p. 4).", vec![("(Doe & Roe, 2021a, p. 4)", Some(2))]),
        (
            "Heat (see Doe, 2020; Poe et al., n.d.).",
            vec![("see Doe, 2020", Some(1)), ("Poe et al., n.d.", Some(3))],
        ),
        (
            "Poe et al. (n.d.) and Doe (2020) agree.",
            vec![("Poe et al. (n.d.)", Some(3)), ("Doe (2020)", Some(1))],
        ),
        (
            "Heat (World Health Organization [WHO], 2019) and WHO (2019).",
            vec![("(World Health Organization [WHO], 2019)", Some(4)), ("WHO (2019)", Some(4))],
        ),
        (
            "As van der Berg (1999) says, and (Van der Berg, 1999).",
            vec![("van der Berg (1999)", Some(5)), ("(Van der Berg, 1999)", Some(5))],
        ),
        ("Heat (李, 2018).", vec![("(李, 2018)", Some(6))]),
        ("Heat (Doe, 2019).", vec![("(Doe, 2019)", None)]),
        ("Heat (Doe & Poe, 2020).", vec![("(Doe & Poe, 2020)", None)]),
        ("Doe’s (2020) view.", vec![("Doe’s (2020)", Some(1))]),
        ("In May (2020) it was hot, since (June 2020) and (see Figure 2, 2020).", vec![]),
    ] {
        let audit = check(&format!("{text}{LIST}"));
        assert_eq!(cited(&audit), expected, "{text}");
    }
}

#[test]
fn numbers_are_linked() {
    let list = "\n\n## References\n\n1. Doe, J. (2020). One thing. *Journal*, 1, 1–2.\n2. Roe, R. (2021). Two things. *Journal*, 1, 1–2.\n3. Poe, E. (2022). Three things. *Journal*, 1, 1–2.\n";
    let audit = check(&format!("Hot [1], [2–3] and [1, 3]; `a[9]`; in [2020]; [7].{list}"));
    let expected = [
        ("[1]", Some(1)),
        ("[2–3]", Some(2)),
        ("[2–3]", Some(3)),
        ("[1, 3]", Some(1)),
        ("[1, 3]", Some(3)),
        ("[7]", None),
    ];
    assert_eq!(cited(&audit), expected);
    assert_eq!(audit.style, Style::Numeric);
    assert_eq!(kinds(&audit), [FindingKind::MissingReference]);
    assert!(!audit.ok);
}

#[test]
fn offsets_count_code_points() {
    let audit = check(&format!("Ä😀 heiß (Doe, 2020).{LIST}"));
    assert_eq!((audit.citations[0].offset, audit.citations[0].length), (8, 11));
}

#[test]
fn mla_pages_are_linked() {
    let list = "\n\n## Works Cited\n\nDoe, Jane. *One Thing*. Harbour Press, 2020.\n\nRoe, Richard, and Ann Poe. \"Two Things.\" *Journal*, vol. 1, 2021, pp. 1–9.\n\nFoe, Max. *Three Things*. Harbour Press, 2019.\n";
    let audit =
        check(&format!("It is so (Doe 12). Roe and Poe disagree (4–5). Others (Vole 3).{list}"));
    assert_eq!(audit.style, Style::Mla);
    assert_eq!(cited(&audit), [("(Doe 12)", Some(1)), ("(4–5)", Some(2)), ("(Vole 3)", None)]);
    let statuses: Vec<_> = audit.references.iter().map(|reference| reference.status).collect();
    assert_eq!(statuses, [Status::Valid, Status::Valid, Status::Unused]);
}

#[test]
fn support_is_measured_with_a_verbatim_quote() {
    let text = "Shade lowers the air temperature by 2 degrees [1]. Trees raise rents by half [2].\n\n## References\n\n\
        1. Doe, J. (2020). One thing. *Journal*, 1, 1–2.\n2. Roe, R. (2021). Two things. *Journal*, 1, 1–2.\n";
    let source =
        |id: &str, text: &str| SourceText { id: id.to_owned(), url: None, text: text.to_owned() };
    let sources = [
        source(
            "1",
            "We measured for a year. Shade lowers air temperature by 2 degrees. Nothing else changed.",
        ),
        source("roe2021", "Trees drop their leaves in autumn. Birds like them."),
    ];
    let audit = audit(text, &sources, Style::Auto);
    let support = audit.citations[0].support.as_ref().unwrap();
    assert!(support.score >= 0.8, "{support:?}");
    assert_eq!(
        (support.source.as_str(), support.quote.as_str()),
        ("1", "Shade lowers air temperature by 2 degrees.")
    );
    assert!(audit.citations[1].support.as_ref().unwrap().score < 0.5);
    assert_eq!(kinds(&audit), [FindingKind::UnsupportedClaim]);
    assert_eq!(audit.findings[0].reference, Some(2));
}

#[test]
fn the_output_has_the_promised_shape() {
    let audit = check(
        "Hot [1].\n\n## References\n\n1. Doe, J. (2020). One thing. *Journal*, 1(2), 1–2. https://doi.org/10.1000/x1\n",
    );
    assert_eq!(
        serde_json::to_value(&audit).unwrap(),
        json!({
            "style": "numeric",
            "references": [{
                "index": 1,
                "raw": "Doe, J. (2020). One thing. *Journal*, 1(2), 1–2. https://doi.org/10.1000/x1",
                "parsed": {"authors": ["Doe, J."], "year": "2020", "title": "One thing", "container": "Journal",
                    "doi": "10.1000/x1", "url": "https://doi.org/10.1000/x1"},
                "status": "valid"
            }],
            "citations": [{"marker": "[1]", "offset": 4, "length": 3, "reference": 1}],
            "findings": [],
            "ok": true
        })
    );
}
