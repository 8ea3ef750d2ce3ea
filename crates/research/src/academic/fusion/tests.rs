use super::*;

fn publication(title: &str, doi: Option<&str>) -> Publication {
    Publication {
        title: title.to_owned(),
        url: format!("https://x.org/{title}"),
        doi: doi.map(str::to_owned),
        ..Publication::default()
    }
}

#[test]
fn the_same_publication_is_listed_once() {
    let pdf = Publication {
        pdf_url: Some("https://x.org/a.pdf".to_owned()),
        ..publication("Attention is all you need!", None)
    };
    let fused = fuse_publications(vec![
        vec![
            publication("Attention Is All You Need", Some("10.1234/a")),
            publication("Other", None),
        ],
        vec![
            pdf,
            publication("A different title", Some("10.1234/a")),
            publication("Editorial", Some("10.1/1")),
        ],
        vec![publication("Editorial", Some("10.1/2"))],
    ]);
    let titles: Vec<_> = fused.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(titles, ["Attention Is All You Need", "Editorial", "Other", "Editorial"]);
    assert!(fused[0].pdf_url.is_some() && fused[0].doi.is_some());
}

#[test]
fn a_preprint_and_its_article_are_one() {
    let at = |title: &str, doi: Option<&str>, url: &str| Publication {
        url: url.to_owned(),
        ..publication(title, doi)
    };
    let fused = fuse_publications(vec![
        vec![at(
            "Deep learning of rivers",
            Some("10.1234/rivers"),
            "https://doi.org/10.1234/rivers",
        )],
        vec![at("Deep learning of rivers", None, "https://arxiv.org/abs/2101.00001v2")],
        vec![
            at("Deep learning of …", None, "https://arxiv.org/pdf/2101.00001"),
            at("Another river of data", None, "https://www.nature.com/articles/s41586-021-1"),
        ],
    ]);
    let dois: Vec<_> = fused.iter().map(|one| one.doi.as_deref()).collect();
    assert_eq!(dois, [Some("10.1234/rivers"), Some("10.1038/s41586-021-1")]);
}
