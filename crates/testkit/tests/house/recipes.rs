//! The *How to* of ARCHITECTURE.md, compared with the example that each recipe names.

use std::path::Path;

/// `**Add a guard** (4 files).` and its line `Example: `NAME`: `file`, `file`.`
pub(crate) struct Recipe {
    pub(crate) title: String,
    pub(crate) count: usize,
    pub(crate) example: String,
    pub(crate) files: Vec<String>,
}

/// The recipes of a page, or what cannot be read as one.
pub(crate) fn recipes(page: &str) -> Result<Vec<Recipe>, String> {
    let section = page.split("\n## ").find(|part| part.starts_with("How to\n"));
    let section = section.ok_or("there is no section `How to`")?;
    section.split("\n**Add ").skip(1).map(recipe).collect()
}

fn recipe(text: &str) -> Result<Recipe, String> {
    let unclear = |what: &str| format!("`Add {}`: {what}", text.lines().next().unwrap_or_default());
    let (title, rest) = text.split_once("** (").ok_or_else(|| unclear("no `** (N files`"))?;
    let count = rest.split_once(" files").and_then(|(count, _)| count.parse().ok());
    let example = text.split_once("\nExample: ").ok_or_else(|| unclear("no `Example:`"))?.1;
    let example = example.split("\n\n").next().unwrap_or(example);
    let mut quoted = example.split('`').skip(1).step_by(2).map(str::to_owned);
    Ok(Recipe {
        title: title.to_owned(),
        count: count.ok_or_else(|| unclear("no number of files"))?,
        example: quoted.next().ok_or_else(|| unclear("no name of the example"))?,
        files: quoted.collect(),
    })
}

/// What is wrong with a recipe: files that are missing from its example, or that do not belong to it.
pub(crate) fn faults(recipe: &Recipe, root: &Path, sources: &[std::path::PathBuf]) -> Vec<String> {
    let Recipe { title, count, example, files } = recipe;
    let mut faults = Vec::new();
    if files.len() != *count {
        faults.push(format!("Add {title}: {count} files, but `{example}` is in {}", files.len()));
    }
    for file in files {
        let is_test = file.contains("/tests/");
        match std::fs::read_to_string(root.join(file)) {
            Ok(text) if is_test || file.contains(example) || names(&text, example) => {}
            Ok(_) => faults.push(format!("Add {title}: {file} does not name `{example}`")),
            Err(error) => faults.push(format!("Add {title}: {file}: {error}")),
        }
    }
    // A name in lower case means something else in other crates.
    let folder = files.first().and_then(|file| file.split("/src/").next()).unwrap_or_default();
    let everywhere = example.starts_with(char::is_uppercase);
    for source in sources {
        let path = source.strip_prefix(root).unwrap_or(source).display().to_string();
        let looked_at = path.contains("/src/") && (everywhere || path.starts_with(folder));
        if looked_at && !files.contains(&path) {
            let text = std::fs::read_to_string(source).expect("a source file");
            if names(&text, example) {
                faults.push(format!("Add {title}: {path} names `{example}`, too"));
            }
        }
    }
    faults
}

/// Whether code contains a name as a whole word.
fn names(text: &str, name: &str) -> bool {
    let in_word = |character: char| character.is_alphanumeric();
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(in_word) && !text[at + name.len()..].starts_with(in_word)
    })
}
