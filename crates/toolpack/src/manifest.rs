//! A `*.tool.yaml`, checked as far as possible without reading other files.

mod execution;
mod written;

use std::collections::BTreeSet;
use std::time::Duration;

use egress::http::Scope;
use proto::{Annotations, Caps, FileRule, RequestedLimits, ToolId};
use schema::yaml::{self, Spanned};
use semver::Version;
use serde_json::Value;

use crate::Fault;
use crate::root::YAML_LIMITS;
use crate::select::Selection;
use crate::template::Template;
use written::Written;

pub use written::Example;

pub(crate) use execution::{Argument, Cli, Execution, Http, Script, ScriptKind, Source};

/// The checked contents of a `*.tool.yaml`.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub(crate) id: ToolId,
    pub(crate) version: Version,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) deterministic: bool,
    pub(crate) limits: RequestedLimits,
    pub(crate) caps: Caps,
    pub(crate) scope: Scope,
    pub(crate) annotations: Annotations,
    pub(crate) input_schema: WithLine<Value>,
    pub(crate) output_schema: WithLine<Value>,
    pub(crate) execution: Execution,
    pub(crate) passthrough: BTreeSet<String>,
    pub(crate) cache_key: Option<Template>,
    pub(crate) on_success: Option<Selection>,
    pub(crate) files: Option<FileRule>,
    pub(crate) key_required: bool,
    pub(crate) examples: Vec<Example>,
    pub(crate) lines: Lines,
}

/// A value and its line.
#[derive(Clone, Debug)]
pub(crate) struct WithLine<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
}

/// The lines of fields that later findings refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) id: usize,
    pub(crate) description: usize,
    pub(crate) caps: Option<usize>,
    pub(crate) execution: usize,
    pub(crate) file_strategy: Option<usize>,
}

/// Reads the text of one `*.tool.yaml`, without the files it refers to.
pub fn parse_pack(text: &str) -> Result<Manifest, Fault> {
    yaml::parse::<Written>(text, YAML_LIMITS)?.check()
}

impl Manifest {
    /// The tool's canonical id.
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// The tool's version.
    pub fn version(&self) -> &Version {
        &self.version
    }
}

impl Written {
    fn check(self) -> Result<Manifest, Fault> {
        let lines = self.lines();
        let id: ToolId = checked(&self.id, |text| text.parse().map_err(display))?;
        let version = checked(&self.version, |text| {
            Version::parse(text)
                .map_err(|error| format!("`{text}` is not a version such as 1.2.0: {error}"))
        })?;
        let passthrough = self.passthrough()?;
        let scope = Scope::parse(&self.caps.value.network)
            .map_err(|error| Fault::at(line(&self.caps), error.to_string()))?;
        let limits = RequestedLimits {
            timeout: positive("timeoutMs", self.timeout_ms.as_ref())?
                .map(|ms| Duration::from_millis(ms as u64)),
            max_input_bytes: positive("maxInputBytes", self.limits.max_input_bytes.as_ref())?,
            max_output_bytes: positive("maxOutputBytes", self.limits.max_output_bytes.as_ref())?,
        };
        let cache_key = match self.templating.cache_key {
            Some(text) => Some(Template::parse(text.value.clone(), line(&text))?),
            None => None,
        };
        let on_success = match &self.on_success {
            Some(rule) => Some(checked(&rule.path, Selection::parse)?),
            None => None,
        };
        let key_required = self.idempotency.as_ref().is_some_and(|rule| rule.value.key.required());
        if let Some(rule) = self.idempotency.filter(|_| key_required && self.deterministic) {
            return Err(Fault::at(
                line(&rule),
                "a deterministic tool is recorded without a key; say `deterministic: false`, or leave `idempotency` out",
            ));
        }
        let files = match (self.file_strategy, self.file_args) {
            (Some(strategy), args) => Some(FileRule {
                strategy: strategy.value,
                args: args.map(|args| args.value.into()).unwrap_or_default(),
            }),
            (None, Some(args)) => {
                let message =
                    "`file_args` names arguments that `file_strategy` puts in; say which strategy";
                return Err(Fault::at(line(&args), message));
            }
            (None, None) => None,
        };
        let manifest = Manifest {
            id,
            version,
            title: self.title,
            description: self.description.map(|text| text.value).unwrap_or_default(),
            deterministic: self.deterministic,
            limits,
            caps: self.caps.value,
            scope,
            annotations: self.annotations,
            input_schema: schema(self.input_schema)?,
            output_schema: schema(self.output_schema)?,
            execution: self.execution.check()?,
            passthrough,
            cache_key,
            on_success,
            files,
            key_required,
            examples: self.examples,
            lines,
        };
        manifest.check_env()?;
        Ok(manifest)
    }

    fn lines(&self) -> Lines {
        let id = line(&self.id);
        Lines {
            id,
            description: self.description.as_ref().map_or(id, line),
            caps: Some(line(&self.caps)).filter(|line| *line > 0),
            execution: line(&self.execution.kind),
            file_strategy: self.file_strategy.as_ref().map(line),
        }
    }

    fn passthrough(&self) -> Result<BTreeSet<String>, Fault> {
        for name in &self.env.passthrough {
            let valid = name.value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !valid || !name.value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                return Err(Fault::at(
                    line(name),
                    format!("`{}` is not the name of an environment variable", name.value),
                ));
            }
        }
        Ok(self.env.passthrough.iter().map(|name| name.value.clone()).collect())
    }
}

impl Manifest {
    fn check_env(&self) -> Result<(), Fault> {
        let templates = self.execution.templates().chain(self.cache_key.as_ref());
        for name in templates.flat_map(Template::env_names) {
            if !self.passthrough.contains(name) {
                return Err(Fault::at(
                    self.lines.execution,
                    format!("a template uses `env.{name}`, but `env.passthrough` does not list it"),
                ));
            }
        }
        Ok(())
    }
}

fn checked<T>(
    text: &Spanned<String>,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Fault> {
    read(&text.value).map_err(|message| Fault::at(line(text), message))
}

fn positive(name: &str, number: Option<&Spanned<usize>>) -> Result<Option<usize>, Fault> {
    match number {
        Some(number) if number.value == 0 => {
            Err(Fault::at(line(number), format!("`{name}` must be greater than 0")))
        }
        other => Ok(other.map(|number| number.value)),
    }
}

fn schema(schema: Spanned<Value>) -> Result<WithLine<Value>, Fault> {
    let line = line(&schema);
    if !schema.value.is_object() {
        return Err(Fault::at(line, "a schema is an object, or `{ $ref: file }`"));
    }
    Ok(WithLine { value: schema.value, line })
}

fn line<T>(spanned: &Spanned<T>) -> usize {
    usize::try_from(spanned.referenced.line()).unwrap_or(usize::MAX)
}

fn display(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests;
