use super::*;

#[test]
fn ids_formats_and_sites_are_removed() {
    for (shown, host) in [
        ("[1706.03762] Attention Is All You Need", "arxiv.org"),
        ("[1706.03762v7] Attention Is All You Need - arXiv.org", "arxiv.org"),
        ("[PDF] Attention Is All You Need | Semantic Scholar", "semanticscholar.org"),
        ("(PDF) Attention Is All You Need - ResearchGate", "researchgate.net"),
        ("Attention Is All You Need - PubMed", "pubmed.ncbi.nlm.nih.gov"),
        ("Attention Is All You Need | Nature Communications", "nature.com"),
        ("Attention Is All You Need | SpringerLink", "link.springer.com"),
        ("Attention Is All You Need – SpringerLink", "link.springer.com"),
        (
            "Attention Is All You Need | IEEE Conference Publication | IEEE Xplore",
            "ieeexplore.ieee.org",
        ),
        ("Attention Is All You Need - arXiv.org e-Print archive", "arxiv.org"),
        ("Frontiers | Attention Is All You Need", "frontiersin.org"),
    ] {
        assert_eq!(undecorated(shown, host), "Attention Is All You Need", "{shown}");
    }
}

#[test]
fn parts_of_a_title_stay() {
    for (title, host) in [
        ("[3+2] Cycloadditions of azides", "nature.com"),
        ("[FeFe] hydrogenases", "pubmed.ncbi.nlm.nih.gov"),
        ("Cities - Nature interactions", "nature.com"),
        ("A map of nature | Scientific Reports", "nature.com"),
        ("Learning to rank - A survey", "arxiv.org"),
        ("Nature", "nature.com"),
        ("", "nature.com"),
    ] {
        assert_eq!(undecorated(title, host), title);
    }
}
