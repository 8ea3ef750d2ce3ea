use server_entry::ServerConfig;

/// Which of a server's tools are offered, and under which names.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a>(pub(crate) &'a ServerConfig);

impl Selection<'_> {
    /// Whether the config offers a tool, by the server's own name for it.
    pub(crate) fn admits(&self, name: &str) -> bool {
        let Self(config) = self;
        (config.only.is_empty() || any(&config.only, name)) && !any(&config.except, name)
    }

    /// The name under which it is offered.
    pub(crate) fn offered<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.rename.get(name).map_or(name, String::as_str)
    }

    /// Whether the config says that equal inputs give equal answers.
    pub(crate) fn deterministic(&self, name: &str) -> bool {
        any(&self.0.deterministic, name)
    }
}

fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// `*` matches any characters, `?` one. Linear in memory and never exponential in time.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // Where to continue if the last star has to match one more character.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, matched)) = star else { return false };
                star = Some((at, matched + 1));
                p = at + 1;
                n = matched + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests;
