//! The *How to* of ARCHITECTURE.md, compared with the example that each recipe names.

use std::path::Path;

/// `**Add a guard** (4 files; 8 with numbers).` has a line `Example: `NAME`: `file`, `file`.` for the first number, and
/// `Example with numbers: …` for the second. Each is a recipe of its own.
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
    let recipes: Result<Vec<_>, _> = section.split("\n**Add ").skip(1).map(read).collect();
    Ok(recipes?.into_iter().flatten().collect())
}

fn read(text: &str) -> Result<Vec<Recipe>, String> {
    let unclear = |what: &str| format!("`Add {}`: {what}", text.lines().next().unwrap_or_default());
    let (title, rest) = text.split_once("** (").ok_or_else(|| unclear("no `** (N files`"))?;
    let (counts, _) = rest.split_once(')').ok_or_else(|| unclear("no `)` after the numbers"))?;
    let mut recipes = Vec::new();
    let (first, others) = counts.split_once("; ").unwrap_or((counts, ""));
    let others = others.split("; ").filter(|count| count.contains(" with "));
    for count in std::iter::once(first).chain(others) {
        let (number, case) = match count.split_once(" with ") {
            Some((number, case)) => (number, format!(" with {case}")),
            None => (count.split(" files").next().unwrap_or_default(), String::new()),
        };
        let start = format!("\nExample{case}: ");
        let (_, example) =
            text.split_once(&start).ok_or_else(|| unclear(&format!("no `{}`", start.trim())))?;
        let example = example.split("\n\n").next().unwrap_or(example);
        let example = example.split("\nExample").next().unwrap_or(example);
        let mut quoted = example.split('`').skip(1).step_by(2).map(str::to_owned);
        recipes.push(Recipe {
            title: format!("{title}{case}"),
            count: number.parse().map_err(|_| unclear(&format!("no number in `{count}`")))?,
            example: quoted.next().ok_or_else(|| unclear("no name of the example"))?,
            files: quoted.collect(),
        });
    }
    let examples = text.matches("\nExample").count();
    if examples == recipes.len() {
        Ok(recipes)
    } else {
        Err(unclear(&format!("{} numbers of files, but {examples} examples", recipes.len())))
    }
}

/// The faults of a recipe: files that are missing from its example, or that do not belong to it.
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
            if names(&code_of(&text), example) {
                faults.push(format!("Add {title}: {path} names `{example}`, too"));
            }
        }
    }
    faults
}

/// A source file without its comments, which may use a name in its plain meaning.
fn code_of(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// Whether code contains a name as a whole word.
fn names(text: &str, name: &str) -> bool {
    let in_word = |character: char| character.is_alphanumeric();
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(in_word) && !text[at + name.len()..].starts_with(in_word)
    })
}
