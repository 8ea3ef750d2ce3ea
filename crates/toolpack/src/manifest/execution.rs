//! The five execution kinds of a tool.

use http::{HeaderName, Method};
use schema::yaml::Spanned;

use super::line;
use super::written::{self, Kind};
use crate::Fault;
use crate::template::Template;

/// The most warm workers that one pack may keep.
const MAX_WORKERS: usize = 64;

/// How a tool is run.
#[derive(Clone, Debug)]
pub(crate) enum Execution {
    Cli(Cli),
    Script(Script),
    Http(Http),
}

/// A command; each element is exactly one argument, and no shell reads any of them.
#[derive(Clone, Debug)]
pub(crate) struct Cli {
    pub(crate) program: Template,
    pub(crate) arguments: Vec<Argument>,
}

/// One argument of a command.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) text: Template,
    /// Whether its value may begin like a flag or a file reference: the author wrote that first character, or allowed it.
    pub(crate) may_lead: bool,
}

/// A program in one of the three languages.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) kind: ScriptKind,
    pub(crate) source: Source,
    pub(crate) interpreter: Option<String>,
    /// Interpreters kept alive between calls.
    pub(crate) workers: Option<usize>,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptKind {
    Python,
    Node,
    Php,
}

/// Where the code is.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A file, relative to the pack.
    File(String),
    /// A function of a Python module.
    Function { module: String, function: String },
}

/// A web service.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    pub(crate) url: Template,
    pub(crate) method: Method,
    pub(crate) headers: Vec<(HeaderName, Template)>,
}

impl Script {
    /// The interpreter as the author wrote it, or the default one.
    pub(crate) fn interpreter(&self) -> &str {
        self.interpreter.as_deref().unwrap_or(match self.kind {
            ScriptKind::Python => "python3",
            ScriptKind::Node => "node",
            ScriptKind::Php => "php",
        })
    }
}

impl Execution {
    /// Every template that is filled in for a call.
    pub(crate) fn templates(&self) -> Box<dyn Iterator<Item = &Template> + '_> {
        match self {
            Execution::Cli(cli) => Box::new(
                std::iter::once(&cli.program).chain(cli.arguments.iter().map(|arg| &arg.text)),
            ),
            Execution::Script(_) => Box::new(std::iter::empty()),
            Execution::Http(http) => Box::new(
                std::iter::once(&http.url).chain(http.headers.iter().map(|(_, value)| value)),
            ),
        }
    }
}

impl written::Execution {
    pub(super) fn check(self) -> Result<Execution, Fault> {
        self.refuse_fields_of_other_kinds()?;
        match self.kind.value {
            Kind::Cli => self.cli().map(Execution::Cli),
            Kind::Python => self.python().map(Execution::Script),
            Kind::Node => self.file(ScriptKind::Node).map(Execution::Script),
            Kind::Php => self.file(ScriptKind::Php).map(Execution::Script),
            Kind::Http => self.http().map(Execution::Http),
        }
    }

    /// Refuses fields of other kinds, which would have no effect.
    fn refuse_fields_of_other_kinds(&self) -> Result<(), Fault> {
        use Kind::{Cli, Http, Node, Php, Python};
        let fields: [(&str, Option<usize>, &[Kind]); 13] = [
            ("cmd", self.cmd.as_ref().map(line), &[Cli]),
            ("allowLeadingDash", self.allow_leading_dash.as_ref().map(line), &[Cli]),
            ("module", self.module.as_ref().map(line), &[Python]),
            ("script", self.script.as_ref().map(line), &[Python]),
            ("python", self.python.as_ref().map(line), &[Python]),
            ("node", self.node.as_ref().map(line), &[Node]),
            ("nodeBinary", self.node_binary.as_ref().map(line), &[Node]),
            ("php", self.php.as_ref().map(line), &[Php]),
            ("phpBinary", self.php_binary.as_ref().map(line), &[Php]),
            ("workers", self.workers.as_ref().map(line), &[Python, Node, Php]),
            ("url", self.url.as_ref().map(line), &[Http]),
            ("method", self.method.as_ref().map(line), &[Http]),
            ("headers", self.headers.as_ref().map(line), &[Http]),
        ];
        let kind = self.kind.value;
        for (name, at, kinds) in fields {
            if let Some(at) = at.filter(|_| !kinds.contains(&kind)) {
                let kind = format!("{kind:?}").to_lowercase();
                return Err(Fault::at(at, format!("`{name}` does not belong to kind `{kind}`")));
            }
        }
        Ok(())
    }

    fn needs(&self, what: &str) -> Fault {
        Fault::at(line(&self.kind), format!("this kind needs {what}"))
    }

    fn cli(&self) -> Result<Cli, Fault> {
        let cmd = self.cmd.as_ref().ok_or_else(|| self.needs("`cmd`, a list of words"))?;
        let allowed = self.allow_leading_dash.as_ref().is_some_and(|flag| flag.value);
        let (program, arguments) = cmd
            .value
            .split_first()
            .ok_or_else(|| Fault::at(line(cmd), "`cmd` names no program"))?;
        if program.value.trim().is_empty() {
            return Err(Fault::at(line(program), "`cmd` names no program"));
        }
        let at = line(program);
        let program = Template::parse(program.value.clone(), at)?;
        if program.uses_input() {
            return Err(Fault::at(at, "the program must not come from the input"));
        }
        let arguments = arguments
            .iter()
            .map(|element| {
                refuse_nul(element)?;
                let text = Template::parse(element.value.clone(), line(element))?;
                let authored = text.source().starts_with(['-', '@']);
                Ok(Argument { may_lead: allowed || authored || !text.is_filled(), text })
            })
            .collect::<Result<_, Fault>>()?;
        Ok(Cli { program, arguments })
    }

    fn python(&self) -> Result<Script, Fault> {
        let source = match (&self.module, &self.script) {
            (Some(module), None) => function(module)?,
            (None, Some(script)) => file_source(script)?,
            (None, None) => return Err(self.needs("`module: pkg.mod:func` or `script: ./tool.py`")),
            (Some(_), Some(script)) => {
                return Err(Fault::at(line(script), "`module` and `script` exclude each other"));
            }
        };
        self.script(ScriptKind::Python, source, self.python.as_ref())
    }

    fn file(&self, kind: ScriptKind) -> Result<Script, Fault> {
        let (path, interpreter, needed) = match kind {
            ScriptKind::Node => (&self.node, &self.node_binary, "`node: ./tool.js`"),
            ScriptKind::Php | ScriptKind::Python => {
                (&self.php, &self.php_binary, "`php: ./tool.php`")
            }
        };
        let path = path.as_ref().ok_or_else(|| self.needs(needed))?;
        self.script(kind, file_source(path)?, interpreter.as_ref())
    }

    fn script(
        &self,
        kind: ScriptKind,
        source: Source,
        interpreter: Option<&Spanned<String>>,
    ) -> Result<Script, Fault> {
        if let Some(empty) = interpreter.filter(|name| name.value.trim().is_empty()) {
            return Err(Fault::at(line(empty), "the interpreter's name is empty"));
        }
        if let Some(workers) = &self.workers
            && !(1..=MAX_WORKERS).contains(&workers.value)
        {
            return Err(Fault::at(
                line(workers),
                format!("`workers` is a number from 1 to {MAX_WORKERS}"),
            ));
        }
        Ok(Script {
            kind,
            source,
            interpreter: interpreter.map(|name| name.value.clone()),
            workers: self.workers.as_ref().map(|workers| workers.value),
            line: line(&self.kind),
        })
    }

    fn http(&self) -> Result<Http, Fault> {
        let url = self.url.as_ref().ok_or_else(|| self.needs("`url`"))?;
        let method = match &self.method {
            None => Method::POST,
            Some(name) => Method::from_bytes(name.value.to_uppercase().as_bytes())
                .ok()
                .filter(known_method)
                .ok_or_else(|| {
                    Fault::at(
                        line(name),
                        format!("`{}` is not a method to call a tool", name.value),
                    )
                })?,
        };
        let mut headers = Vec::new();
        for (name, value) in self.headers.iter().flat_map(|headers| &headers.value) {
            let header = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| Fault::at(line(value), format!("`{name}` is not a header's name")))?;
            headers.push((header, Template::parse(value.value.clone(), line(value))?));
        }
        Ok(Http { url: Template::parse(url.value.clone(), line(url))?, method, headers })
    }
}

fn known_method(method: &Method) -> bool {
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE].contains(method)
}

fn refuse_nul(text: &Spanned<String>) -> Result<(), Fault> {
    if text.value.contains('\0') {
        return Err(Fault::at(line(text), "a NUL character is not allowed here"));
    }
    Ok(())
}

fn file_source(path: &Spanned<String>) -> Result<Source, Fault> {
    refuse_nul(path)?;
    if path.value.trim().is_empty() {
        return Err(Fault::at(line(path), "the path of the script is empty"));
    }
    Ok(Source::File(path.value.clone()))
}

fn function(written: &Spanned<String>) -> Result<Source, Fault> {
    let malformed = || {
        Fault::at(line(written), format!("`{}` is not `package.module:function`", written.value))
    };
    let (module, function) = written.value.split_once(':').ok_or_else(malformed)?;
    if !module.split('.').all(is_identifier) || !is_identifier(function) {
        return Err(malformed());
    }
    Ok(Source::Function { module: module.to_owned(), function: function.to_owned() })
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
