//! `check`: everything the loader refuses, and advice on what confuses models.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use proto::{Finding, Severity, ToolId, clean};
use schema::Schema;
use serde_json::Value;
use strip::catalog::{MAJORS_SERVED, refusal};

use crate::Fault;
use crate::loader::{Owners, PackFile, in_parallel, scan};
use crate::manifest::{Execution, Source};
use crate::pack::{Code, Pack};

/// A model cannot choose a tool by a shorter description.
const MIN_DESCRIPTION: usize = 20;

/// Descriptions more similar than this look like the same tool.
const LOOK_ALIKE: f64 = 0.95;

/// The most packs that are compared with each other.
const MAX_COMPARED: usize = 500;

/// One example call of a pack: the input, and the expected data.
#[derive(Clone, Debug, PartialEq)]
pub struct CannedCall {
    pub file: PathBuf,
    pub tool: ToolId,
    pub major: u64,
    pub input: Value,
    pub data: Value,
    /// Whether the same call must get the same answer twice.
    pub deterministic: bool,
}

/// Every finding about the packs of these folders, errors and advice, by file and line. The names in `taken` belong to
/// other tools.
pub fn lint(folders: &[PathBuf], taken: &HashSet<ToolId>) -> Vec<Finding> {
    let mut findings: Vec<_> = folders.iter().filter_map(|folder| missing(folder)).collect();
    let packs = read(folders, taken, &mut findings);
    for (place, pack) in &packs {
        advise(place, pack, &mut findings);
    }
    look_alikes(&packs, &mut findings);
    findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    findings
}

/// A warning for each pack whose input schema some model API refuses.
pub fn unportable(folders: &[PathBuf], taken: &HashSet<ToolId>) -> Vec<Finding> {
    let packs = read(folders, taken, &mut Vec::new());
    let finding = |(place, pack): &(PackFile, Pack)| {
        let reason = refusal(&pack.descriptor.input_schema)?;
        let message = format!(
            "a request with this input schema fails: {reason}; `schemas: portable` rewrites it in lists"
        );
        let finding = place.finding(&Fault::at(pack.manifest.input_schema.line, message));
        Some(Finding { severity: Severity::Warning, ..finding })
    };
    packs.iter().filter_map(finding).collect()
}

/// Advice for each pack that replaces one of the tools in `built_in`. The names in `taken` belong to other tools.
pub fn replacements(
    folders: &[PathBuf],
    taken: &HashSet<ToolId>,
    built_in: &HashSet<ToolId>,
) -> Vec<Finding> {
    let mut packs = read(folders, taken, &mut Vec::new());
    packs.retain(|(_, pack)| built_in.contains(&pack.manifest.id));
    let finding = |(place, pack): &(PackFile, Pack)| {
        let manifest = &pack.manifest;
        let message = format!("this pack replaces the built-in tool `{}`", manifest.id);
        let finding = place.finding(&Fault::at(manifest.lines.id, message));
        Finding { severity: Severity::Advice, ..finding }
    };
    packs.iter().map(finding).collect()
}

/// The ids of all packs that are served in addition to the tools in `taken`.
pub fn pack_ids(folders: &[PathBuf], taken: &HashSet<ToolId>) -> HashSet<ToolId> {
    let packs = read(folders, taken, &mut Vec::new());
    packs.into_iter().map(|(_, pack)| pack.manifest.id.clone()).collect()
}

/// The examples of all packs that are served in addition to the tools in `taken`, in the order of the files.
pub fn canned_calls(folders: &[PathBuf], taken: &HashSet<ToolId>) -> Vec<CannedCall> {
    let mut calls = Vec::new();
    for (place, pack) in read(folders, taken, &mut Vec::new()) {
        for example in &pack.manifest.examples {
            calls.push(CannedCall {
                file: place.shown(&place.path),
                tool: pack.manifest.id.clone(),
                major: pack.manifest.version.major,
                input: example.input.clone(),
                data: example.data.clone(),
                deterministic: pack.manifest.deterministic,
            });
        }
    }
    calls
}

fn missing(folder: &Path) -> Option<Finding> {
    (!folder.is_dir()).then(|| Finding {
        severity: Severity::Warning,
        file: folder.to_owned(),
        line: None,
        message: "this folder does not exist".to_owned(),
    })
}

/// The packs that are served; why the others are not is added to the findings.
fn read(
    folders: &[PathBuf],
    taken: &HashSet<ToolId>,
    findings: &mut Vec<Finding>,
) -> Vec<(PackFile, Pack)> {
    let mut owners = Owners::default();
    let mut packs = Vec::new();
    let scan = scan(folders);
    findings.extend(scan.findings());
    let read = in_parallel(scan.files, |place| {
        let pack = place.read().and_then(|(pack, _)| pack.check_schemas().map(|()| pack));
        (place, pack)
    });
    for (place, pack) in read {
        let shown = place.shown(&place.path);
        let admitted = pack.and_then(|pack| {
            not_taken(taken, &pack)?;
            owners.claim(&shown, &pack)?;
            Ok(pack)
        });
        match admitted {
            Ok(pack) => packs.push((place, pack)),
            Err(fault) => findings.push(place.finding(&fault)),
        }
    }
    leave_out_old_majors(&mut packs, findings);
    packs
}

fn not_taken(taken: &HashSet<ToolId>, pack: &Pack) -> Result<(), Fault> {
    let manifest = &pack.manifest;
    if taken.contains(&manifest.id) {
        let message = format!("`{}` is the name of a built-in tool; choose another", manifest.id);
        return Err(Fault::at(manifest.lines.id, message));
    }
    Ok(())
}

fn leave_out_old_majors(packs: &mut Vec<(PackFile, Pack)>, findings: &mut Vec<Finding>) {
    let mut majors: HashMap<ToolId, Vec<u64>> = HashMap::new();
    for (_, Pack { manifest, .. }) in packs.iter() {
        majors.entry(manifest.id.clone()).or_default().push(manifest.version.major);
    }
    packs.retain(|(place, Pack { manifest, .. })| {
        let newer = |major: &&u64| **major > manifest.version.major;
        let served = majors[&manifest.id].iter().filter(newer).count() < MAJORS_SERVED;
        if !served {
            let message = format!(
                "`{}` {} is not served: only the {MAJORS_SERVED} newest majors are",
                manifest.id, manifest.version
            );
            let finding = place.finding(&Fault::at(manifest.lines.id, message));
            findings.push(Finding { severity: Severity::Warning, ..finding });
        }
        served
    });
}

fn advise(place: &PackFile, pack: &Pack, findings: &mut Vec<Finding>) {
    let manifest = &pack.manifest;
    let lines = manifest.lines;
    let mut say = |severity, line: usize, message: String| {
        let finding = Fault::at(line, message).finding(&place.path);
        let file = place.shown(&finding.file);
        findings.push(Finding { severity, file, ..finding });
    };
    let description = manifest.description.trim();
    if description.is_empty() {
        say(Severity::Warning, lines.description, "the tool has no description".to_owned());
    } else if description.chars().count() < MIN_DESCRIPTION {
        let message = format!(
            "the description has fewer than {MIN_DESCRIPTION} characters; a model chooses by it"
        );
        say(Severity::Advice, lines.description, message);
    }
    for name in undescribed(&pack.descriptor.input_schema) {
        let message = format!("the parameter `{name}` has no description");
        say(Severity::Advice, manifest.input_schema.line, message);
    }
    // Only deterministic tools can have examples.
    if manifest.examples.is_empty() && manifest.deterministic {
        say(Severity::Advice, lines.id, "there are no `examples` for `check --run`".to_owned());
    }
    for (number, message) in wrong_examples(pack) {
        say(Severity::Error, lines.id, format!("example {number}: {message}"));
    }
    let hidden = pack.descriptor.clone().clean();
    if hidden > 0 {
        let message = format!("the texts hold {hidden} invisible characters, which are removed");
        say(Severity::Warning, lines.id, message);
    }
    for message in network(pack) {
        say(Severity::Warning, lines.caps.unwrap_or(lines.execution), message);
    }
    if let Execution::Script(script) = &manifest.execution
        && let Some(message) = script_advice(place, pack, &script.source)
    {
        say(Severity::Warning, script.line, message);
    }
}

fn undescribed(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_described = |property: &Value| {
        let target = property
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| schema.pointer(reference.strip_prefix('#')?));
        [Some(property), target].into_iter().flatten().any(|property| {
            property
                .get("description")
                .and_then(Value::as_str)
                .is_some_and(|text| !text.trim().is_empty())
        })
    };
    properties
        .into_iter()
        .flatten()
        .filter(|(_, property)| !is_described(property))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Examples that violate the pack's own schemas.
fn wrong_examples(pack: &Pack) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    if pack.manifest.examples.is_empty() {
        return wrong;
    }
    let compile = |schema: Option<&Value>| schema.and_then(|schema| Schema::compile(schema).ok());
    let input = compile(Some(&pack.descriptor.input_schema));
    let output = compile(pack.descriptor.output_schema.as_ref());
    for (index, example) in pack.manifest.examples.iter().enumerate() {
        for (what, schema, value) in
            [("input", &input, &example.input), ("data", &output, &example.data)]
        {
            let violations =
                schema.as_ref().map(|schema| schema.violations(value)).unwrap_or_default();
            if let Some(violation) = violations.first() {
                let path = format!("{what}{}", violation.path);
                wrong.push((index + 1, format!("`{path}`: {}", violation.message)));
            }
        }
    }
    wrong
}

fn network(pack: &Pack) -> Vec<String> {
    let caps = &pack.manifest.caps;
    let mut messages = Vec::new();
    match &pack.manifest.execution {
        Execution::Http(http) => {
            if caps.network.is_empty() {
                messages.push(
                    "`caps.network` is empty, so the guarded client refuses every request"
                        .to_owned(),
                );
            }
            if !caps.files.read.is_empty() || !caps.files.write.is_empty() {
                messages.push("`caps.files` has no effect on kind `http`".to_owned());
            }
            if http.url.is_one_value() {
                messages.push(
                    "`url` is a value of the input: callers choose where the request and its headers go"
                        .to_owned(),
                );
            }
        }
        Execution::Cli(_) | Execution::Script(_) => {
            let hosts = caps.network.iter().any(|entry| entry != "http" && entry != "https");
            if hosts {
                messages.push(
                    "for processes the sandbox only turns the network on or off; the hosts in `caps.network` are not enforced"
                        .to_owned(),
                );
            }
        }
    }
    messages
}

fn script_advice(place: &PackFile, pack: &Pack, source: &Source) -> Option<String> {
    let (Source::Function { module, .. }, Some(Code::Module { search, .. })) = (source, &pack.code)
    else {
        return None;
    };
    let root = place.folder.root.path();
    search.iter().any(|folder| folder == root).then(|| {
        format!(
            "`{module}` lies outside the tools folder, so the tool may read all of {}",
            root.display()
        )
    })
}

fn look_alikes(packs: &[(PackFile, Pack)], findings: &mut Vec<Finding>) {
    let texts: Vec<_> = packs
        .iter()
        .take(MAX_COMPARED)
        .map(|(_, pack)| clean::text(&pack.manifest.description).0.to_lowercase())
        .collect();
    for (later, text) in texts.iter().enumerate() {
        let (place, pack) = &packs[later];
        let twin = texts[..later].iter().enumerate().find(|(earlier, other)| {
            let other_pack = &packs[*earlier].1;
            other_pack.manifest.id != pack.manifest.id
                && (near(text, other) || same_name(&other_pack.manifest.id, &pack.manifest.id))
        });
        if let Some((earlier, _)) = twin {
            let other = &packs[earlier].1.manifest.id;
            findings.push(Finding {
                severity: Severity::Advice,
                file: place.shown(&place.path),
                line: Some(pack.manifest.lines.description),
                message: format!("a model can hardly tell this tool from `{other}`"),
            });
        }
    }
}

fn near(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    // Texts of very different length need no slow comparison.
    short.chars().count() >= MIN_DESCRIPTION
        && short.len() * 10 >= long.len() * 8
        && shared_words(short, long)
        && strsim::normalized_damerau_levenshtein(a, b) > LOOK_ALIKE
}

/// Whether most words of the one are in the other, which is fast to check.
fn shared_words(a: &str, b: &str) -> bool {
    let words: HashSet<_> = b.split_whitespace().collect();
    let shared = a.split_whitespace().filter(|word| words.contains(word)).count();
    shared * 10 >= a.split_whitespace().count() * 6
}

/// Names that differ only in case or punctuation.
fn same_name(a: &ToolId, b: &ToolId) -> bool {
    let plain = |id: &ToolId| {
        let characters = id.as_str().chars().filter(char::is_ascii_alphanumeric);
        characters.map(|c| c.to_ascii_lowercase()).collect::<String>()
    };
    plain(a) == plain(b)
}
