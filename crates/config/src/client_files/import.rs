//! Turns the servers of a client's file into servers of the gateway.

mod secret_names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use environment::Environment;
use proto::Secret;
use serde_json::Value;
use server_entry::UrlTransport;

use super::entry::{Entry, Transport};
use super::env_file;
use super::sections::{Section, inputs, project_of, sections};
use super::template::{self, Part, Places};
use super::{format_of, literals, parse, read_text, reserved};
use crate::secret::{HeaderSource, SecretReader, SecretSource};
use crate::servers::{self, Server, clean};
use crate::units::Span;

pub(crate) use secret_names::secret_name;

/// What becomes of secrets that are written out in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literals {
    /// They stay as they are: the entries are used at once and never written.
    Keep,
    /// They are replaced by references, and returned so that they can be stored.
    Move,
}

/// The servers of a file.
#[derive(Debug, Default)]
pub struct Imported {
    /// Servers that can be used, in the order of their names.
    pub servers: BTreeMap<String, Server>,
    /// Secrets that the file contained, by the name under which the servers refer to them.
    pub secrets: BTreeMap<String, Secret>,
    /// Secrets that the servers need and the file does not contain, with what they are for.
    pub needed: BTreeMap<String, String>,
    /// Keys that were left out and names that were changed.
    pub notes: Vec<String>,
    /// Entries that cannot be used, by the name that the file gives them, and why.
    pub refused: Vec<(String, String)>,
    /// The keys that lead to each server's entry in the file.
    pub origins: BTreeMap<String, Vec<String>>,
    /// The folder at which relative paths of the entries start.
    pub folder: PathBuf,
}

impl Imported {
    /// Refers to the file's secrets as environment variables, where they cannot be stored. Returns their names.
    pub fn use_environment(&mut self) -> Vec<String> {
        let names: Vec<_> = std::mem::take(&mut self.secrets).into_keys().collect();
        self.each_source(|source| {
            if let SecretSource::Vault { secret, .. } = source
                && names.contains(secret)
            {
                *source = SecretSource::Env { env: secret.clone() };
            }
        });
        names
    }

    /// Refers to a secret that is stored already, in place of one of the file.
    pub fn use_stored(&mut self, of_file: &str, stored: &str) {
        self.secrets.remove(of_file);
        self.each_source(|source| match source {
            SecretSource::Vault { secret, .. } if secret == of_file => {
                *secret = stored.to_owned();
            }
            _ => {}
        });
    }

    fn each_source(&mut self, mut change: impl FnMut(&mut SecretSource)) {
        for server in self.servers.values_mut() {
            let values = server.args.iter_mut().chain(&mut server.url);
            for value in values.chain(server.env.values_mut()).chain(server.headers.values_mut()) {
                match value {
                    HeaderSource::Plain(_) => {}
                    HeaderSource::Secret(source) | HeaderSource::Prefixed { source, .. } => {
                        change(source);
                    }
                }
            }
        }
    }

    /// Writes paths below a config file's folder relative to it, as they mean the same there.
    pub fn relative_to(&mut self, folder: &Path) {
        for server in self.servers.values_mut() {
            if server.cwd.as_deref() == Some(folder) {
                server.cwd = None;
            }
            let below = server.command.as_deref().map(Path::new);
            if let Some(below) = below.and_then(|command| command.strip_prefix(folder).ok()) {
                server.command = Some(format!("./{}", below.display()));
            }
        }
    }
}

/// Reads files of clients.
pub struct Importer<'a> {
    pub environment: &'a Environment,
    pub literals: Literals,
    /// Names of secrets that are stored, or that the config refers to.
    pub taken: BTreeSet<String>,
    /// Servers that are left alone.
    pub skip: BTreeSet<String>,
}

impl Importer<'_> {
    /// Reads a file. The error says why nothing in it can be used.
    pub fn read(&self, path: &Path) -> Result<Imported, String> {
        let document = parse(&read_text(path)?, format_of(path))?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.read_document(&document, &absolute)
    }

    /// Reads a document as if it were the file at a path.
    pub fn read_document(&self, document: &Value, path: &Path) -> Result<Imported, String> {
        let sections = sections(document)?;
        let home = self.environment.text("HOME");
        let project = project_of(path, home.as_deref());
        let own = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut imported =
            Imported { folder: project.clone().unwrap_or(own), ..Imported::default() };
        let inputs = inputs(document);
        for section in sections {
            let folder = section.project.clone().or_else(|| project.clone());
            let here = std::env::current_dir().unwrap_or_default();
            let workspace = folder.clone().unwrap_or(here);
            for (written, value) in section.entries {
                let places = Places { home: home.as_deref(), workspace: &workspace };
                let mut work = Work {
                    importer: self,
                    places,
                    inputs: &inputs,
                    server: valid_name(written),
                    folder: folder.as_deref(),
                    imported: &mut imported,
                };
                work.add(written, value, &section);
            }
        }
        Ok(imported)
    }
}

/// The work on one entry.
struct Work<'a> {
    importer: &'a Importer<'a>,
    places: Places<'a>,
    inputs: &'a BTreeMap<String, String>,
    server: String,
    folder: Option<&'a Path>,
    imported: &'a mut Imported,
}

impl Work<'_> {
    fn add(&mut self, written: &str, value: &Value, section: &Section<'_>) {
        let entry = match Entry::read(value) {
            Ok(entry) => entry,
            Err(why) => return self.imported.refused.push((written.to_owned(), why)),
        };
        if self.server.is_empty() {
            let why = "the name has no letter or digit".to_owned();
            return self.imported.refused.push((written.to_owned(), why));
        }
        if let Some(other) = reserved::other_name(&self.server) {
            self.imported.notes.push(format!(
                "`{}` is a name of the gateway's own tools, which stay available",
                self.server
            ));
            self.server = other;
        }
        if self.importer.skip.contains(&self.server) {
            let note = format!("{written}: skipped, there is a server `{}` already", self.server);
            return self.imported.notes.push(note);
        }
        if let Some(project) = &section.project
            && self.imported.servers.contains_key(&self.server)
        {
            let name = project.file_name().unwrap_or_default().to_string_lossy();
            self.server = valid_name(&format!("{}-{name}", self.server));
        }
        let (secrets, needed) = (self.imported.secrets.clone(), self.imported.needed.clone());
        let read = self.server(&entry).and_then(|server| self.check(server));
        match read {
            Ok(_) if self.imported.servers.contains_key(&self.server) => {
                (self.imported.secrets, self.imported.needed) = (secrets, needed);
                let why = format!("another server is named `{}`", self.server);
                self.imported.refused.push((written.to_owned(), why));
            }
            Ok(server) => {
                if self.server != written {
                    let note = format!("`{written}` is named `{}` here", self.server);
                    self.imported.notes.push(note);
                }
                let notes = entry.notes.iter().map(|note| format!("{written}: {note}"));
                self.imported.notes.extend(notes);
                let origin = section.keys.iter().cloned().chain([written.to_owned()]);
                self.imported.origins.insert(self.server.clone(), origin.collect());
                self.imported.servers.insert(self.server.clone(), server);
            }
            Err(why) => {
                (self.imported.secrets, self.imported.needed) = (secrets, needed);
                self.imported.refused.push((written.to_owned(), why));
            }
        }
    }

    /// Refuses an entry that the gateway could not use, so that it does not keep the others from being used.
    fn check(&self, server: Server) -> Result<Server, String> {
        proto::check_server_name(&self.server).map_err(|why| why.to_string())?;
        let others = self.importer.skip.iter().chain(self.imported.servers.keys());
        proto::check_look_alike(&self.server, others.map(String::as_str))
            .map_err(|why| why.to_string())?;
        let reader = SecretReader::assuming(self.importer.environment, Path::new(""));
        match servers::check(&server, &self.server, &reader).into_iter().next() {
            None => Ok(server),
            Some(fault) if fault.keys.is_empty() => Err(fault.message),
            Some(fault) => Err(format!("{}: {}", fault.keys.join("."), fault.message)),
        }
    }

    fn server(&mut self, entry: &Entry) -> Result<Server, String> {
        let command = entry.command.as_deref().map(|text| self.expand(text)).transpose()?;
        let cwd = entry.cwd.as_deref().map(|text| self.expand(text)).transpose()?;
        let mut args = Vec::new();
        for at in 0..entry.args.len() {
            args.push(self.argument(&entry.args, at)?);
        }
        let mut env = BTreeMap::new();
        for (key, value) in &entry.env {
            let value = self.named(key, key, value).map_err(|why| format!("env.{key}: {why}"))?;
            env.insert(key.clone(), value);
        }
        if let Some(file) = &entry.env_file {
            let mut variables = self.env_file(file)?;
            variables.retain(|key, _| !env.contains_key(key));
            for (key, value) in variables {
                let value = self.literal(&key, &key, value, false);
                env.insert(key, value);
            }
        }
        let mut headers = BTreeMap::new();
        for (key, value) in &entry.headers {
            let name = format!("{}_{key}", self.server);
            let value =
                self.named(key, &name, value).map_err(|why| format!("headers.{key}: {why}"))?;
            headers.insert(key.clone(), value);
        }
        let url = entry.url.as_deref().map(|url| self.url(url)).transpose()?;
        // A client runs the programs of a project in the project's folder.
        let cwd = cwd.map(PathBuf::from).map(|cwd| self.places.workspace.join(cwd));
        let cwd = cwd.or_else(|| command.as_ref().and(self.folder.map(Path::to_owned)));
        Ok(Server {
            command: command.map(|command| self.locate(command)),
            args,
            env,
            cwd,
            url,
            transport: match entry.transport {
                Transport::Sse => UrlTransport::Sse,
                Transport::Auto | Transport::Streamable => UrlTransport::Auto,
            },
            headers,
            disabled: entry.disabled,
            timeout: entry
                .timeout_secs
                .map(|seconds| Span(std::time::Duration::from_secs(seconds))),
            only: entry.only.clone(),
            except: entry.except.clone(),
            ..Server::default()
        })
    }

    /// A relative path of a program starts at the project.
    fn locate(&self, command: String) -> String {
        let command = match command.strip_prefix("~/").zip(self.places.home) {
            Some((rest, home)) => format!("{home}/{rest}"),
            None => command,
        };
        if !command.contains('/') {
            return command;
        }
        let folder = self.folder.unwrap_or(&self.imported.folder);
        clean(&folder.join(command)).to_string_lossy().into_owned()
    }

    /// Replaces all variables.
    fn expand(&self, text: &str) -> Result<String, String> {
        let mut expanded = String::new();
        for part in self.parts(text)? {
            match part {
                Part::Text(text) => expanded.push_str(&text),
                Part::Variable { name, .. } => {
                    let value = self.importer.environment.text(&name);
                    let unset = || format!("`{name}` is not set; set it and try again");
                    expanded.push_str(&value.ok_or_else(unset)?);
                }
                Part::Input(id) => {
                    return Err(format!(
                        "`${{input:{id}}}` is possible only at the end of a value; write it out and try again"
                    ));
                }
            }
        }
        Ok(expanded)
    }

    /// The parts of a value; variables that have a default and are not set are replaced by it.
    fn parts(&self, text: &str) -> Result<Vec<Part>, String> {
        let parts = template::parse(text, &self.places)?.into_iter().map(|part| match part {
            Part::Variable { name, default: Some(default) }
                if self.importer.environment.text(&name).is_none() =>
            {
                Part::Text(default)
            }
            part => part,
        });
        Ok(parts.collect())
    }

    /// A value that is a variable or a text before one.
    fn reference(&mut self, parts: &[Part]) -> Option<HeaderSource> {
        let (last, before) = parts.split_last()?;
        let prefix = before
            .iter()
            .map(|part| match part {
                Part::Text(text) => Some(text.clone()),
                Part::Variable { name, .. } if !literals::is_secret_name(name) => {
                    self.importer.environment.text(name)
                }
                Part::Variable { .. } | Part::Input(_) => None,
            })
            .collect::<Option<String>>()?;
        if self.importer.literals == Literals::Move && literals::is_secret_before_variable(&prefix)
        {
            return None;
        }
        let source = match last {
            Part::Text(_) => return None,
            Part::Variable { name, .. } => SecretSource::Env { env: name.clone() },
            Part::Input(id) => {
                let secret = self.input_name(id);
                let purpose =
                    self.inputs.get(id).cloned().unwrap_or_else(|| format!("input `{id}`"));
                self.imported.needed.insert(secret.clone(), purpose);
                SecretSource::Vault { secret, per: None }
            }
        };
        Some(behind(prefix, source))
    }

    /// The value of a variable or a header.
    fn named(&mut self, key: &str, secret: &str, value: &str) -> Result<HeaderSource, String> {
        let parts = self.parts(value)?;
        if let Some(reference) = self.reference(&parts) {
            return Ok(reference);
        }
        let text = self.expand(value)?;
        Ok(self.literal(key, secret, text, names_secret(&parts)))
    }

    /// A value without variables, which is moved out of the entry if it is a secret.
    fn literal(&mut self, key: &str, secret: &str, text: String, known: bool) -> HeaderSource {
        let is_secret = known || literals::is_secret(key, &text);
        if !is_secret || self.importer.literals == Literals::Keep {
            return HeaderSource::Plain(text);
        }
        // The scheme of a header is no secret, and the token alone can be replaced more easily.
        let prefix = literals::scheme_of(&text);
        let name = self.claim(secret, &text[prefix.len()..]);
        behind(prefix.to_owned(), SecretSource::Vault { secret: name, per: None })
    }

    /// The variables of an `envFile`. A relative path starts at the project.
    fn env_file(&mut self, written: &str) -> Result<BTreeMap<String, String>, String> {
        let path = self.places.workspace.join(self.expand(written)?);
        let parsed = env_file::read(&path)?;
        let notes = parsed.faults.into_iter();
        let notes = notes
            .map(|(line, why)| format!("{}: line {line} of {} {why}", self.server, path.display()));
        self.imported.notes.extend(notes);
        Ok(parsed.variables)
    }

    fn argument(&mut self, args: &[String], at: usize) -> Result<HeaderSource, String> {
        let before = at.checked_sub(1).map(|before| args[before].as_str());
        let value = &args[at];
        let parts = self.parts(value)?;
        if let Some(reference) = self.reference(&parts) {
            return Ok(reference);
        }
        let text = self.expand(value)?;
        let secret = literals::secret_in_argument(before, &text)
            .or_else(|| names_secret(&parts).then_some(0))
            // The value of a variable before it may be a secret, too.
            .map(|start| if value.starts_with(&text[..start]) { start } else { 0 });
        match secret {
            Some(start) if self.importer.literals == Literals::Move => {
                let option = literals::option_name(before, &text[..start]);
                let option = option.map_or_else(|| format!("argument_{}", at + 1), str::to_owned);
                let name = self.claim(&format!("{}_{option}", self.server), &text[start..]);
                self.imported.notes.push(format!(
                    "{}: takes a secret as an argument, which other programs on this machine can read; use a \
                     variable in `env` if the server supports one",
                    self.server
                ));
                let source = SecretSource::Vault { secret: name, per: None };
                Ok(behind(text[..start].to_owned(), source))
            }
            _ => Ok(HeaderSource::Plain(text)),
        }
    }

    fn url(&mut self, value: &str) -> Result<HeaderSource, String> {
        let parts = self.parts(value)?;
        if let Some(reference) = self.reference(&parts) {
            return Ok(reference);
        }
        let text = self.expand(value)?;
        let secret = literals::looks_secret(&text) || names_secret(&parts);
        if !secret || self.importer.literals == Literals::Keep {
            return Ok(HeaderSource::Plain(text));
        }
        let name = self.claim(&format!("{}_url", self.server), &text);
        Ok(HeaderSource::Secret(SecretSource::Vault { secret: name, per: None }))
    }
}

fn behind(prefix: String, source: SecretSource) -> HeaderSource {
    if prefix.is_empty() {
        HeaderSource::Secret(source)
    } else {
        HeaderSource::Prefixed { prefix, source }
    }
}

/// Whether a value contains a variable whose name is that of a secret.
fn names_secret(parts: &[Part]) -> bool {
    parts
        .iter()
        .any(|part| matches!(part, Part::Variable { name, .. } if literals::is_secret_name(name)))
}

/// Replaces the characters that server names do not allow.
fn valid_name(written: &str) -> String {
    let kept =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' };
    let name: String = written.trim().chars().map(kept).collect();
    let mut name = name.trim_matches(['-', '.', '_']).to_owned();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    name
}

#[cfg(test)]
mod tests;
