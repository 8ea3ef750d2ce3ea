use super::*;

#[test]
fn dois_are_found_and_normalized() {
    let doi = Some("10.1038/nature12373".to_owned());
    assert_eq!(bare_doi("https://doi.org/10.1038/NATURE12373"), doi);
    assert_eq!(bare_doi("10.1038/nature12373"), doi);
    for text in ["", "10.", "10.1/x", "version 10.2/3", "10.1038/"] {
        assert_eq!(bare_doi(text), None, "{text}");
    }
}

#[test]
fn addresses_give_dois() {
    for (url, doi) in [
        (
            "https://link.springer.com/content/pdf/10.1007/s10994-021-05946-3.pdf?x",
            Some("10.1007/s10994-021-05946-3"),
        ),
        ("https://www.nature.com/articles/nature12373", Some("10.1038/nature12373")),
        (
            "https://www.nature.com/articles/S41586-021-03819-2.pdf",
            Some("10.1038/s41586-021-03819-2"),
        ),
        (
            "https://www.nature.com/articles/s41586-021-03819-2/figures/1",
            Some("10.1038/s41586-021-03819-2"),
        ),
        ("https://www.nature.com/articles/", None),
        ("https://example.org/articles/nature12373", None),
        ("https://arxiv.org/abs/1706.03762", Some("10.48550/arxiv.1706.03762")),
        ("https://arxiv.org/pdf/1706.03762v7.pdf", Some("10.48550/arxiv.1706.03762")),
        ("https://export.arxiv.org/abs/hep-th/9901001v2", Some("10.48550/arxiv.hep-th/9901001")),
        ("https://arxiv.org/list/cs.CL/recent", None),
        ("https://arxiv.org/abs/", None),
        ("https://example.org/abs/1706.03762", None),
    ] {
        assert_eq!(doi_in(&url.parse().unwrap()).as_deref(), doi, "{url}");
    }
}
