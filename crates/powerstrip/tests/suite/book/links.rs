use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::book::pages::{markdown_below, prose, root};

#[test]
fn every_relative_link_has_a_target() {
    let mut pages = markdown_below(&root().join("docs/src"));
    pages.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md"]
            .map(|page| root().join(page)),
    );
    let mut faults = Vec::new();
    let mut seen = 0;
    for page in &pages {
        for (line, target) in links(page) {
            seen += 1;
            if let Err(why) = follow(page, &target) {
                faults.push(format!("{}:{line}: `{target}` {why}", page.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(seen > 0, "no link was found at all");
}

#[test]
fn every_page_is_in_the_summary() {
    let book = root().join("docs/src");
    let summary = book.join("SUMMARY.md");
    let listed: BTreeSet<PathBuf> =
        links(&summary).into_iter().map(|(_, target)| book.join(target)).collect();
    for page in markdown_below(&book).into_iter().filter(|page| *page != summary) {
        assert!(listed.contains(&page), "{} is not in the summary", page.display());
    }
}

/// Whether a link's file exists, and has the heading that it names.
fn follow(page: &Path, target: &str) -> Result<(), String> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { page.to_owned() } else { page.parent().unwrap().join(path) };
    if !file.exists() {
        return Err("is not there".to_owned());
    }
    let target = file.canonicalize().unwrap();
    let (book, page) = (root().join("docs/src"), page.canonicalize().unwrap());
    if page.starts_with(&book) && !target.starts_with(&book) {
        return Err("leads out of the book".to_owned());
    }
    if heading.is_empty() || headings(&file).contains(heading) {
        return Ok(());
    }
    Err("names a heading that is not there".to_owned())
}

/// The relative targets of a page's links and images.
fn links(page: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut links = Vec::new();
    for (line, prose) in prose(&text) {
        // Code between backticks contains no links; every second part is code.
        let plain: Vec<_> = prose.split('`').step_by(2).collect();
        for part in plain.join("").split("](").skip(1) {
            let target = part.split(')').next().unwrap_or(part);
            if !target.contains("://") && !target.starts_with("mailto:") {
                links.push((line, target.to_owned()));
            }
        }
    }
    links
}

/// The anchors of a page, derived from its headings as mdBook does.
fn headings(page: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let headings = prose(&text).filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}
