//! The pages for readers of the repository, compared with the source tree.

use crate::recipes::{faults, recipes};
use crate::{ARROWS, root, sources};

fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_architecture_page_names_every_crate() {
    let page = page("ARCHITECTURE.md");
    for (name, _) in ARROWS {
        assert!(page.contains(&format!("`{name}`")), "ARCHITECTURE.md does not name `{name}`");
    }
}

#[test]
fn every_error_code_has_its_page() {
    let codes = [
        "INVALID_INPUT",
        "NOT_FOUND",
        "RATE_LIMIT",
        "TIMEOUT",
        "UNAVAILABLE",
        "INTERNAL",
        "NONDETERMINISTIC",
        "UNSUPPORTED",
        "DENIED",
    ];
    let summary = page("docs/src/SUMMARY.md");
    for code in codes {
        assert!(root().join(format!("docs/src/errors/{code}.md")).is_file(), "{code} has no page");
        assert!(summary.contains(&format!("errors/{code}.md")), "{code} is not in the summary");
    }
}

#[test]
fn the_files_that_pages_name_exist() {
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md"] {
        let text = page(name);
        for quoted in text.split('`').skip(1).step_by(2) {
            let starts = ["crates/", "scripts/", "servers/", "docs/"];
            let path = quoted.split_whitespace().next().unwrap_or_default();
            // `NAME` is for the reader to fill in, braces hold several names.
            if !starts.iter().any(|start| path.starts_with(start)) || path.contains(['{', 'N']) {
                continue;
            }
            assert!(root().join(path).exists(), "{name} names {path}, which does not exist");
        }
    }
}

/// A recipe whose example spreads over other files than it says is out of date.
#[test]
fn the_recipes_of_the_architecture_page_fit_their_examples() {
    let recipes = recipes(&page("ARCHITECTURE.md")).unwrap_or_else(|fault| panic!("{fault}"));
    let sources = sources(&root());
    let faults: Vec<_> =
        recipes.iter().flat_map(|recipe| faults(recipe, &root(), &sources)).collect();
    assert!(recipes.len() >= 3 && faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_example_of_a_table_is_the_newest_one() {
    let entries =
        std::fs::read_dir(root().join("crates/store/migrations/sqlite")).expect("a folder");
    let mut scripts: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    scripts.retain(|script| {
        std::fs::read_to_string(script).is_ok_and(|text| text.contains("CREATE TABLE"))
    });
    let newest = scripts.iter().max().expect("migrations").file_name().expect("a name");
    let recipes = recipes(&page("ARCHITECTURE.md")).unwrap_or_else(|fault| panic!("{fault}"));
    let recipe = recipes.iter().find(|recipe| recipe.title == "a table").expect("a recipe");
    let is_named = |file: &String| std::path::Path::new(file).file_name() == Some(newest);
    assert!(
        recipe.files.iter().any(is_named),
        "`Add a table` follows the newest table, which is in {newest:?}: {:?}",
        recipe.files
    );
}

#[test]
fn the_changelog_has_one_section_for_what_is_not_released() {
    let changelog = page("CHANGELOG.md");
    let sections = changelog.lines().filter(|line| line.starts_with("## "));
    let unreleased: Vec<_> = sections.filter(|line| line.contains("Unreleased")).collect();
    assert_eq!(unreleased.len(), 1, "{unreleased:#?}");
}

#[test]
fn the_readme_fits_a_terminal() {
    let readme = page("README.md");
    let long: Vec<_> = readme.lines().filter(|line| line.chars().count() > 120).collect();
    assert!(long.is_empty(), "more than 120 columns: {long:#?}");
}
