//! Variables and headers of which each person has a value of their own.

use std::collections::BTreeMap;

/// Which variables and headers have a value for each person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Personal {
    /// By the name of the variable.
    pub env: BTreeMap<String, PersonalSecret>,
    /// By the name of the header.
    pub headers: BTreeMap<String, PersonalSecret>,
}

/// A secret that each person stores for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalSecret {
    /// The secret's name in the vault.
    pub secret: String,
    /// The text before it, such as `Bearer `.
    pub prefix: String,
}

/// Variables that decide which code a program loads. A person who sets one would choose a command.
const CODE_VARIABLES: [&str; 17] = [
    "PATH",
    "HOME",
    "SHELL",
    "ENV",
    "BASH_ENV",
    "IFS",
    "PS4",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "NODE_OPTIONS",
    "NODE_PATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
];

/// Beginnings of such variables.
const CODE_PREFIXES: [&str; 10] = [
    "LD_",
    "DYLD_",
    "PYTHON",
    "GIT_",
    "NPM_CONFIG_",
    "UV_",
    "PIP_",
    "BASH_FUNC",
    "GCONV_",
    "JDK_JAVA_",
];

impl Personal {
    /// Whether no variable and no header is personal.
    pub fn is_empty(&self) -> bool {
        self.env.is_empty() && self.headers.is_empty()
    }

    /// The names of the secrets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.env.values().chain(self.headers.values()).map(|secret| secret.secret.as_str())
    }

    /// A fault: the key, and why.
    pub(crate) fn check(&self, shared: bool) -> Result<(), (&'static str, String)> {
        if shared && !self.is_empty() {
            let why = "people with secrets of their own cannot share a process or session: remove it, or `per: person`";
            return Err(("instances", why.to_owned()));
        }
        for name in self.env.keys() {
            let upper = name.to_ascii_uppercase();
            if CODE_VARIABLES.contains(&upper.as_str())
                || CODE_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
            {
                let why = format!(
                    "`{name}` can decide which code the program runs, so people must not set it: remove `per: person`"
                );
                return Err(("env", why));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
