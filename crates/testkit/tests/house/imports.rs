//! Import circles inside crates. File A imports file B if A's code names an item that B defines; re-exports are followed,
//! and a `mod` or `pub use` alone is no import.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The path of a module inside its crate; empty for the root.
type Module = Vec<String>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Word(String),
    /// `::`
    Separator,
    Other(char),
}

/// One path of a `use` statement.
struct Use {
    path: Vec<String>,
    name: String,
    public: bool,
}

#[derive(Default)]
struct Source {
    uses: Vec<Use>,
    /// Paths in the rest of the code.
    paths: Vec<Vec<String>>,
}

/// The circles of more than `most` files in the crate whose source folder is given, each as a list of modules.
pub(crate) fn circles(folder: &Path, most: usize) -> Vec<Vec<String>> {
    let sources: BTreeMap<Module, Source> = super::sources(folder)
        .into_iter()
        .filter(|file| !is_test(file))
        .map(|file| (module(folder, &file), read(&file)))
        .collect();
    let imports = Imports::of(&sources);
    imports
        .components()
        .into_iter()
        .filter(|files| files.len() > most)
        .map(|files| files.iter().map(|module| module.join("::")).collect())
        .collect()
}

fn is_test(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests")
        || file.file_name().is_some_and(|name| name == "tests.rs" || name == "build.rs")
}

fn module(folder: &Path, file: &Path) -> Module {
    let inside = file.strip_prefix(folder).expect("a file of the folder").with_extension("");
    let parts: Module = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts == ["lib"] || parts == ["main"] { Vec::new() } else { parts }
}

fn read(file: &Path) -> Source {
    let text = std::fs::read_to_string(file).expect("a source file");
    let tokens = without_tests(&lex(&text));
    let mut source = Source::default();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == word("use") {
            let public =
                at > 0 && (tokens[at - 1] == word("pub") || tokens[at - 1] == Token::Other(')'));
            at = read_use(&tokens, at + 1, &[], public, &mut source.uses);
        } else if let Token::Word(first) = &tokens[at] {
            let mut path = vec![first.clone()];
            while let (Some(Token::Separator), Some(Token::Word(next))) =
                (tokens.get(at + 1), tokens.get(at + 2))
            {
                path.push(next.clone());
                at += 2;
            }
            if path.len() > 1 {
                source.paths.push(path);
            }
        }
        at += 1;
    }
    source
}

/// Reads one branch of a `use` tree and returns the position of the token that ends it.
fn read_use(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    public: bool,
    uses: &mut Vec<Use>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut name = None;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Word(word) if word == "as" => {
                if let Some(Token::Word(alias)) = tokens.get(at + 1) {
                    name = Some(alias.clone());
                }
                at += 1;
            }
            Token::Word(word) => path.push(word.clone()),
            Token::Separator => {}
            Token::Other('{') => {
                loop {
                    at = read_use(tokens, at + 1, &path, public, uses);
                    if tokens.get(at) != Some(&Token::Other(',')) {
                        break;
                    }
                }
                // Past the closing brace; the branches were recorded above.
                return at + 1;
            }
            Token::Other(_) => break,
        }
        at += 1;
    }
    if path.len() > prefix.len() {
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        uses.push(Use { path, name, public });
    }
    at
}

fn word(text: &str) -> Token {
    Token::Word(text.to_owned())
}

/// Splits Rust code into tokens, without comments, literals and lifetimes.
pub(crate) fn lex(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if let Some(length) = string(rest) {
            at += length;
        } else if rest.starts_with("::") {
            tokens.push(Token::Separator);
            at += 2;
        } else if bytes[at] == b'\'' {
            at += quoted(rest);
        } else {
            let letter = rest.chars().next().expect("a character");
            if letter == '_' || letter.is_alphanumeric() {
                let length = rest
                    .find(|other: char| other != '_' && !other.is_alphanumeric())
                    .unwrap_or(rest.len());
                tokens.push(word(&rest[..length]));
                at += length;
            } else {
                if !letter.is_whitespace() {
                    tokens.push(Token::Other(letter));
                }
                at += letter.len_utf8();
            }
        }
    }
    tokens
}

/// The length of the string literal at the start, if there is one.
fn string(rest: &str) -> Option<usize> {
    let hashes = rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
    if let Some(hashes) = hashes.filter(|hashes| rest[1 + hashes..].starts_with('"')) {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = hashes + 2;
        return Some(rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len()));
    }
    let inner = rest.strip_prefix('"')?;
    let mut escaped = false;
    for (at, letter) in inner.char_indices() {
        match letter {
            '"' if !escaped => return Some(at + 2),
            _ => escaped = letter == '\\' && !escaped,
        }
    }
    Some(rest.len())
}

/// The length of the character literal or the quote of a lifetime at the start.
fn quoted(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[2..].find('\'').map_or(rest.len(), |end| end + 3).max(4),
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

/// The tokens without modules that are built for tests only.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let marker: Vec<Token> = lex("#[cfg(test)]");
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let tail = &tokens[at..];
        let module = tail.starts_with(&marker)
            && tail[marker.len()..].iter().take(5).any(|token| *token == word("mod"));
        if !module {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0_usize;
        for token in tail {
            at += 1;
            match token {
                Token::Other('{') => depth += 1,
                Token::Other('}') if depth == 1 => break,
                Token::Other('}') => depth -= 1,
                Token::Other(';') if depth == 0 => break,
                _ => {}
            }
        }
    }
    kept
}

struct Imports<'a> {
    sources: &'a BTreeMap<Module, Source>,
    /// What each module re-exports: from where.
    exported: BTreeMap<(&'a Module, &'a str), &'a [String]>,
    edges: BTreeMap<&'a Module, BTreeSet<&'a Module>>,
}

impl<'a> Imports<'a> {
    fn of(sources: &'a BTreeMap<Module, Source>) -> Self {
        let exported = sources
            .iter()
            .flat_map(|(module, source)| {
                let public = source.uses.iter().filter(|item| item.public);
                public.map(move |item| ((module, item.name.as_str()), item.path.as_slice()))
            })
            .collect();
        let mut imports = Self { sources, exported, edges: BTreeMap::new() };
        for (module, source) in sources {
            for item in source.uses.iter().filter(|item| !item.public) {
                imports.add(module, imports.absolute(module, &item.path));
            }
            let aliases: BTreeMap<&str, Vec<String>> = source
                .uses
                .iter()
                .filter_map(|item| {
                    Some((item.name.as_str(), imports.absolute(module, &item.path)?))
                })
                .filter(|(_, path)| sources.contains_key(path))
                .collect();
            for path in &source.paths {
                let absolute = match aliases.get(path[0].as_str()) {
                    Some(alias) => Some([alias, &path[1..]].concat()),
                    None => imports.absolute(module, path),
                };
                imports.add(module, absolute);
            }
        }
        imports
    }

    fn add(&mut self, from: &'a Module, path: Option<Vec<String>>) {
        if let Some(to) = path.and_then(|path| self.resolve(path, 8))
            && to != from
        {
            self.edges.entry(from).or_default().insert(to);
        }
    }

    /// The path from the root of the crate; none for a path into another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat()),
            first => {
                let child = [module, &[first.to_owned()]].concat();
                self.sources.contains_key(&child).then(|| [module, path].concat())
            }
        }
    }

    /// The file that defines the item; none if the path names a module, or leads out of the crate.
    fn resolve(&self, path: Vec<String>, hops: usize) -> Option<&'a Module> {
        let length =
            (0..=path.len()).rev().find(|length| self.sources.contains_key(&path[..*length]))?;
        let (module, _) = self.sources.get_key_value(&path[..length])?;
        let item = path.get(length)?;
        let Some(origin) = self.exported.get(&(module, item.as_str())) else { return Some(module) };
        let next = [self.absolute(module, origin)?, path[length + 1..].to_vec()].concat();
        if next == path || hops == 0 { Some(module) } else { self.resolve(next, hops - 1) }
    }

    /// Groups of files each of which reaches all others of its group.
    fn components(&self) -> Vec<BTreeSet<&'a Module>> {
        let reach: BTreeMap<&Module, BTreeSet<&'a Module>> =
            self.sources.keys().map(|module| (module, self.reachable(module))).collect();
        let groups = self.sources.keys().map(|module| {
            let back = |other: &&'a Module| reach[*other].contains(module);
            reach[module].iter().copied().filter(back).collect::<BTreeSet<_>>()
        });
        groups.filter(|group| !group.is_empty()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn reachable(&self, from: &'a Module) -> BTreeSet<&'a Module> {
        let mut reached = BTreeSet::new();
        let mut queue = vec![from];
        while let Some(next) = queue.pop() {
            for to in self.edges.get(next).into_iter().flatten() {
                if reached.insert(*to) {
                    queue.push(to);
                }
            }
        }
        reached
    }
}
