//! The names under which secrets of a file are stored: never one that another server uses or waits for.

use proto::Secret;

use super::{Imported, Work};

impl Work<'_> {
    /// A name for a secret of the file; equal values share one.
    pub(super) fn claim(&mut self, base: &str, value: &str) -> String {
        let mut known = self.imported.secrets.iter();
        if let Some((name, _)) = known.find(|(_, secret)| secret.expose() == value) {
            return name.clone();
        }
        let base = secret_name(base);
        let with_server = secret_name(&format!("{}_{base}", self.server));
        let numbered = (2..).map(|number| format!("{with_server}_{number}"));
        // A name for which a person has to store a value is another server's.
        let free = |name: &String| {
            let Imported { secrets, needed, .. } = &self.imported;
            let in_use = secrets.contains_key(name) || needed.contains_key(name);
            !in_use && !self.importer.taken.contains(name)
        };
        let names = [base.clone(), with_server.clone()].into_iter().chain(numbered);
        let name = names.into_iter().find(free).unwrap_or(base);
        self.imported.secrets.insert(name.clone(), Secret::new(value));
        name
    }

    /// The name of the secret that a person is to store for an input; never one of another value of the file.
    pub(super) fn input_name(&mut self, id: &str) -> String {
        let name = secret_name(id);
        if self.imported.secrets.contains_key(&name) {
            return secret_name(&format!("input_{id}"));
        }
        if self.importer.taken.contains(&name) {
            self.imported.notes.push(format!(
                "{}: input `{id}` is the secret {name}, which is stored or used already",
                self.server
            ));
        }
        name
    }
}

/// A name that the vault and the environment allow: `GITHUB_TOKEN`.
pub(crate) fn secret_name(text: &str) -> String {
    let upper = text.trim().to_ascii_uppercase();
    let words = upper.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let name = if begins { name } else { format!("SECRET_{name}") };
    name.chars().take(64).collect()
}
