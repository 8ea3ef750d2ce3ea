use super::*;

#[test]
fn dois_are_found_and_normalized() {
    let doi = Some("10.1038/nature12373".to_owned());
    assert_eq!(bare_doi("https://doi.org/10.1038/NATURE12373"), doi);
    assert_eq!(bare_doi("10.1038/nature12373"), doi);
    for text in ["", "10.", "10.1/x", "version 10.2/3", "10.1038/"] {
        assert_eq!(bare_doi(text), None, "{text}");
    }
    assert_eq!(
        doi_in("https://link.springer.com/content/pdf/10.1007/s10994-021-05946-3.pdf?x").as_deref(),
        Some("10.1007/s10994-021-05946-3")
    );
    assert_eq!(doi_in("https://www.nature.com/articles/nature12373"), None);
}
