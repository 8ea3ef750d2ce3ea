use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proto::{Finding, ListedPrompt, ListedPromptVersion, PromptRef, Severity, digest};
use schema::yaml::nearest;
use serde_json::{Map, Value};

use super::body::{Body, Kind, PACKS};
use super::error::PromptError;
use super::files::Folder;
use super::pins::{self, Pins};
use super::prompt::Prompt;
use super::render;
use super::spec::{self, Spec};
use super::template::{Budget, TemplateErrorKind};

/// The largest body that is read.
pub(super) const MAX_BODY_BYTES: usize = 256 * 1024;

/// All prompts of a folder at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    prompts: Vec<Prompt>,
}

impl Snapshot {
    /// Reads a folder. Broken prompts are left out and reported in the findings; a missing folder has no prompts.
    pub fn load(dir: &Path) -> (Snapshot, Vec<Finding>) {
        Self::load_keeping(dir, &Snapshot::default())
    }

    /// Reads a folder again. A prompt whose file is broken stays as it was in the previous snapshot.
    pub fn load_keeping(dir: &Path, previous: &Snapshot) -> (Snapshot, Vec<Finding>) {
        let mut findings = Vec::new();
        let folder = match Folder::open(dir) {
            Ok(Some(folder)) => folder,
            Ok(None) => return (Snapshot::default(), findings),
            Err(fault) => {
                findings.push(Finding {
                    severity: Severity::Error,
                    file: dir.to_owned(),
                    line: None,
                    message: fault.message,
                });
                return (previous.clone(), findings);
            }
        };
        let mut loading = Loading { folder: &folder, previous, findings, prompts: Vec::new() };
        loading.load();
        let Loading { prompts, mut findings, .. } = loading;
        findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        (Self::of(prompts), findings)
    }

    /// These prompts, in the order of listings.
    pub(super) fn of(mut prompts: Vec<Prompt>) -> Self {
        prompts.sort_by(|a, b| (&a.domain, &a.name, b.major).cmp(&(&b.domain, &b.name, a.major)));
        let mut newest: Option<(String, u64)> = None;
        for prompt in &mut prompts {
            let id = prompt.id();
            prompt.superseded_by = match &newest {
                Some((known, major)) if *known == id => Some(*major),
                _ => {
                    newest = Some((id, prompt.major));
                    None
                }
            };
        }
        Self { prompts }
    }

    /// All prompts, by domain and name, the newest major first.
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    /// Finds a prompt; without a major, the newest.
    pub fn get(&self, reference: &PromptRef) -> Result<&Prompt, PromptError> {
        let mut majors = self
            .prompts
            .iter()
            .filter(|prompt| prompt.domain == reference.domain && prompt.name == reference.name)
            .peekable();
        if majors.peek().is_none() {
            return Err(self.unknown(reference));
        }
        let served: Vec<_> = majors.collect();
        match reference.major {
            None => Ok(served[0]),
            Some(major) => {
                served.iter().find(|prompt| prompt.major == major).copied().ok_or_else(|| {
                    PromptError::UnknownMajor {
                        prompt: format!("{}/{}", reference.domain, reference.name),
                        major,
                        served: served.iter().map(|prompt| prompt.major).collect(),
                    }
                })
            }
        }
    }

    /// The prompts as discovery lists them.
    pub fn listed(&self) -> Vec<ListedPrompt> {
        self.prompts
            .chunk_by(|a, b| a.domain == b.domain && a.name == b.name)
            .filter_map(|majors| {
                let id = format!("mcp.prompt:{}", majors.first()?.id());
                let versions = majors
                    .iter()
                    .map(|prompt| ListedPromptVersion {
                        major: prompt.major,
                        description: prompt.description.clone(),
                        spec_ref: format!("/mcp/prompt/{}/{}", prompt.id(), prompt.major),
                    })
                    .collect();
                Some(ListedPrompt { id, versions })
            })
            .collect()
    }

    fn unknown(&self, reference: &PromptRef) -> PromptError {
        let prompt = format!("{}/{}", reference.domain, reference.name);
        let ids: BTreeSet<_> = self.prompts.iter().map(Prompt::id).collect();
        let mut scored: Vec<_> = ids
            .into_iter()
            .map(|id| (strsim::jaro_winkler(&prompt, &id), id))
            .filter(|(score, _)| *score > 0.8)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let nearest = scored.into_iter().take(3).map(|(_, id)| id).collect();
        PromptError::Unknown { prompt, nearest }
    }
}

/// The files that share a name.
#[derive(Default)]
struct Files {
    bodies: Vec<Body>,
    specs: BTreeMap<Option<u64>, String>,
}

struct Loading<'a> {
    folder: &'a Folder,
    previous: &'a Snapshot,
    findings: Vec<Finding>,
    prompts: Vec<Prompt>,
}

impl Loading<'_> {
    fn load(&mut self) {
        let pins = match Pins::read(self.folder) {
            Ok(pins) => Some(pins),
            Err(faults) => {
                for fault in faults {
                    self.report(Severity::Error, pins::FILE, fault.line, fault.message);
                }
                None
            }
        };
        let domains = match self.folder.list(PACKS) {
            Ok(domains) => domains.unwrap_or_default(),
            Err(fault) => {
                self.report(Severity::Error, PACKS, None, fault.message);
                self.prompts.clone_from(&self.previous.prompts);
                return;
            }
        };
        let mut present = BTreeSet::new();
        for domain in &domains {
            let path = format!("{PACKS}/{}", domain.name);
            if !domain.is_dir {
                let message = "is not in a domain's folder and is not served".to_owned();
                self.report(Severity::Warning, &path, None, message);
                continue;
            }
            match self.folder.list(&path) {
                Ok(items) => {
                    let names = items.unwrap_or_default().into_iter().map(|item| item.name);
                    for (name, files) in self.sort(&domain.name, names) {
                        let id = format!("{}/{name}", domain.name);
                        present.extend(files.bodies.iter().map(|body| (id.clone(), body.major)));
                        self.load_name(files, pins.as_ref());
                    }
                }
                Err(fault) => {
                    self.report(Severity::Error, &path, None, fault.message);
                    let kept = self.previous.prompts.iter().filter(|p| p.domain == domain.name);
                    present.extend(kept.clone().map(|prompt| (prompt.id(), prompt.major)));
                    self.prompts.extend(kept.cloned());
                }
            }
        }
        for (id, major, pin) in pins.iter().flat_map(Pins::all) {
            if !present.contains(&(id.to_owned(), major)) {
                let message = format!(
                    "`{id}` v{major} is pinned, but {PACKS}/{id}.v{major}.md does not exist: callers may still ask for it"
                );
                self.report(Severity::Error, pins::FILE, pin.line, message);
            }
        }
    }

    fn report(&mut self, severity: Severity, file: &str, line: Option<usize>, message: String) {
        self.findings.push(Finding { severity, file: self.folder.shown(file), line, message });
    }

    /// The files of a domain by the prompt's name.
    fn sort(
        &mut self,
        domain: &str,
        files: impl Iterator<Item = String>,
    ) -> BTreeMap<String, Files> {
        let mut names: BTreeMap<String, Files> = BTreeMap::new();
        for file in files {
            let path = format!("{PACKS}/{domain}/{file}");
            match Kind::of(domain, &file) {
                Ok(Kind::Note) => {}
                Ok(Kind::Body { name, major }) => {
                    let body = Body { domain: domain.to_owned(), name: name.clone(), major, path };
                    names.entry(name).or_default().bodies.push(body);
                }
                Ok(Kind::Spec { name, major }) => {
                    names.entry(name).or_default().specs.insert(major, path);
                }
                Err(reason) => self.report(Severity::Warning, &path, None, reason),
            }
        }
        names
    }

    fn load_name(&mut self, files: Files, pins: Option<&Pins>) {
        let mut specs = BTreeMap::new();
        for (major, path) in &files.specs {
            let described = |body: &&Body| major.is_none_or(|major| body.major == major);
            if files.bodies.iter().any(|body| described(&body)) {
                specs.insert(*major, self.read_spec(path));
            } else {
                let message = "describes a prompt that has no `<name>.vN.md`".to_owned();
                self.report(Severity::Warning, path, None, message);
            }
        }
        for body in &files.bodies {
            let spec = specs.get(&Some(body.major)).or_else(|| specs.get(&None));
            if spec.is_none() {
                let message = format!("has no spec: write `{}.spec.yaml` next to it", body.name);
                self.report(Severity::Error, &body.path, None, message);
            }
            let read = self.read_body(body, pins, spec.and_then(Option::as_ref));
            let kept = || {
                self.previous.prompts.iter().find(|prompt| {
                    prompt.domain == body.domain
                        && prompt.name == body.name
                        && prompt.major == body.major
                })
            };
            self.prompts.extend(read.or_else(|| kept().cloned()));
        }
    }

    fn read_spec(&mut self, path: &str) -> Option<Spec> {
        let text = match self.folder.read(path, spec::LIMITS.max_bytes) {
            Ok(text) => text?,
            Err(fault) => {
                self.report(Severity::Error, path, fault.line, fault.message);
                return None;
            }
        };
        match Spec::parse(&text) {
            Ok(spec) => {
                if spec.hidden_characters > 0 {
                    let message = hidden(spec.hidden_characters);
                    self.report(Severity::Warning, path, None, message);
                }
                for (argument, line) in spec.arguments.iter().zip(&spec.argument_lines) {
                    if argument.description.is_none() {
                        let message =
                            format!("the argument `{}` has no description", argument.name);
                        self.report(Severity::Advice, path, Some(*line), message);
                    }
                }
                Some(spec)
            }
            Err(faults) => {
                for fault in faults {
                    self.report(Severity::Error, path, fault.line, fault.message);
                }
                None
            }
        }
    }

    fn read_body(
        &mut self,
        body: &Body,
        pins: Option<&Pins>,
        spec: Option<&Spec>,
    ) -> Option<Prompt> {
        let text = match self.folder.read(&body.path, MAX_BODY_BYTES) {
            Ok(text) => text?,
            Err(fault) => {
                self.report(Severity::Error, &body.path, fault.line, fault.message);
                return None;
            }
        };
        let found = digest(text.as_bytes());
        let mut served = true;
        match pins.map(|pins| (pins, pins.pin(&body.id(), body.major))) {
            Some((pins, Some(pin))) if pin.digest != found => {
                let message = body.changed(self.folder, pins);
                self.report(Severity::Error, &body.path, None, message);
                served = false;
            }
            Some((_, Some(_))) => {}
            Some((_, None)) => {
                let message =
                    format!("is not pinned in {}: `powerstrip prompts pin` does it", pins::FILE);
                self.report(Severity::Warning, &body.path, None, message);
            }
            // Without readable pins no body can be trusted.
            None => served = false,
        }
        let (clean, removed) = proto::clean::text(&text);
        if removed > 0 {
            let line = text.lines().position(|line| proto::clean::text(line).1 > 0);
            self.report(Severity::Warning, &body.path, line.map(|line| line + 1), hidden(removed));
        }
        let spec = spec?;
        served &= self.try_body(body, &clean, spec);
        served.then(|| Prompt::new(&body.domain, &body.name, body.major, clean, found, spec))
    }

    /// Whether the body is a template that renders with the arguments of its spec.
    fn try_body(&mut self, body: &Body, text: &str, spec: &Spec) -> bool {
        let names = match render::names(text) {
            Ok(names) => names,
            Err(fault) => {
                self.report(Severity::Error, &body.path, fault.line, fault.message);
                return false;
            }
        };
        let known = || spec.arguments.iter().map(|argument| argument.name.as_str());
        let mut good = true;
        for name in names.iter().filter(|name| !spec.open && !known().any(|known| known == **name))
        {
            let hint = nearest(name, known())
                .map(|nearest| format!("; did you mean `{nearest}`?"))
                .unwrap_or_default();
            let line = text.lines().position(|line| has_word(line, name)).map(|line| line + 1);
            let message = format!("uses `{name}`, which the spec's `properties` do not name{hint}");
            self.report(Severity::Error, &body.path, line, message);
            good = false;
        }
        if !good {
            return false;
        }
        let sample = |all: bool| -> Value {
            let arguments = spec
                .arguments
                .iter()
                .filter(|argument| {
                    all || argument.required || argument.schema.get("default").is_some()
                })
                .map(|argument| (argument.name.clone(), render::sample(&argument.schema)));
            Value::Object(arguments.collect::<Map<_, _>>())
        };
        for all in [true, false] {
            let Err(fault) = render::render(text, &sample(all), &Budget::new()) else {
                continue;
            };
            match fault.kind {
                TemplateErrorKind::Broken
                | TemplateErrorKind::TooLong
                | TemplateErrorKind::TooLarge
                | TemplateErrorKind::TooSlow => {
                    self.report(Severity::Error, &body.path, fault.line, fault.message);
                    return false;
                }
                TemplateErrorKind::Undefined if !all => {
                    let message = "prints an optional argument that may not be given: test it with `{% if … %}` or give it a `default`".to_owned();
                    self.report(Severity::Warning, &body.path, fault.line, message);
                }
                // The samples are guesses; real arguments may render.
                TemplateErrorKind::Undefined | TemplateErrorKind::Other => {}
            }
        }
        true
    }
}

fn hidden(count: usize) -> String {
    let plural = if count == 1 { "character" } else { "characters" };
    format!("{count} invisible {plural} left out of what is served")
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == word)
}
