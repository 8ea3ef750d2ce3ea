//! A pack with all files that it refers to.

use std::path::{Path, PathBuf};

use files::FilePlan;
use proto::{Descriptor, Digest, canonical, digest};
use schema::{Patterns, Schema};
use serde_json::{Value, json};
use strip::catalog::takes_objects;

use crate::manifest::{Execution, Manifest, Script, ScriptKind, Source};
use crate::root::{Root, read_code};
use crate::{Fault, parse_pack, schemas};

/// A tools folder and the root around it.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) tools: PathBuf,
    pub(crate) root: Root,
}

/// A manifest together with the files that it refers to.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) manifest: Manifest,
    pub(crate) descriptor: Descriptor,
    /// The folder that the pack's own paths are relative to.
    pub(crate) folder: PathBuf,
    pub(crate) code: Option<Code>,
    /// What its processes may read in addition to the system and the interpreter.
    pub(crate) readable: Vec<PathBuf>,
    /// The files whose change makes it another pack.
    pub(crate) files: Vec<PathBuf>,
}

/// The code behind a script kind.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// A program that reads one line, prints one line and ends.
    Program(PathBuf),
    /// A file that exports a function.
    Function(PathBuf),
    /// A function of a Python module, looked for in these folders and then where the interpreter looks.
    Module { module: String, function: String, search: Vec<PathBuf> },
}

impl Pack {
    /// Reads the pack in this file and all files it refers to.
    pub(crate) fn load(path: &Path, text: &str, folder: &Folder) -> Result<Self, Fault> {
        let manifest = parse_pack(text)?;
        let own_folder = path.parent().unwrap_or(path).to_owned();
        let input = schemas::bundle(&folder.root, path, &manifest.input_schema.value)
            .map_err(|fault| fault.or_line(manifest.input_schema.line))?;
        let output = schemas::bundle(&folder.root, path, &manifest.output_schema.value)
            .map_err(|fault| fault.or_line(manifest.output_schema.line))?;
        let found = match &manifest.execution {
            Execution::Script(script) => Some(
                LocatedCode::of(script, &own_folder, folder).map_err(|f| f.or_line(script.line))?,
            ),
            Execution::Cli(_) | Execution::Http(_) => None,
        };

        let mut files = input.files;
        files.extend(output.files);
        let mut readable = vec![folder.tools.clone()];
        let mut code_digest = None;
        let mut code = None;
        if let Some(found) = found {
            files.extend(found.file);
            readable.extend(found.readable);
            code_digest = found.digest;
            code = Some(found.code);
        }
        let descriptor = Descriptor {
            unprefixed: false,
            id: manifest.id.clone(),
            version: manifest.version.clone(),
            title: manifest.title.clone(),
            description: manifest.description.clone(),
            input_schema: input.schema,
            output_schema: Some(output.schema),
            deterministic: manifest.deterministic,
            limits: manifest.limits,
            caps: manifest.caps.clone(),
            annotations: manifest.annotations.clone(),
            implementation: Some(implementation(&manifest, code_digest)),
            meta: None,
            extra: serde_json::Map::new(),
            files: manifest.files.clone(),
        };
        Ok(Self { manifest, descriptor, folder: own_folder, code, readable, files })
    }

    /// Refuses schemas that the catalog could not use, before they replace usable ones.
    pub(crate) fn check_schemas(&self) -> Result<(), Fault> {
        let (manifest, descriptor) = (&self.manifest, &self.descriptor);
        if !takes_objects(&descriptor.input_schema) {
            let message =
                "`inputSchema` cannot be used: a tool's input is an object, by every door";
            return Err(Fault::at(manifest.input_schema.line, message));
        }
        if let Some(rule) = &manifest.files
            && let Err(unfit) = FilePlan::of(rule, &descriptor.input_schema, Patterns::Required)
        {
            let line = manifest.lines.file_strategy.unwrap_or(manifest.lines.id);
            return Err(Fault::at(line, format!("`file_strategy` cannot be used: {unfit}")));
        }
        for (name, line, schema) in [
            ("inputSchema", manifest.input_schema.line, Some(&descriptor.input_schema)),
            ("outputSchema", manifest.output_schema.line, descriptor.output_schema.as_ref()),
        ] {
            if let Some(Err(why)) = schema.map(Schema::compile) {
                return Err(Fault::at(line, format!("`{name}` cannot be used: {why}")));
            }
        }
        Ok(())
    }
}

/// The files behind a script kind.
struct LocatedCode {
    code: Code,
    file: Option<PathBuf>,
    readable: Vec<PathBuf>,
    digest: Option<Digest>,
}

impl LocatedCode {
    fn of(script: &Script, own: &Path, folder: &Folder) -> Result<Self, Fault> {
        match &script.source {
            Source::File(written) => Self::file(script.kind, written, own, folder),
            Source::Function { module, function } => Self::module(module, function, own, folder),
        }
    }

    fn file(kind: ScriptKind, written: &str, own: &Path, folder: &Folder) -> Result<Self, Fault> {
        let file = folder.root.file(own, written)?;
        let bytes = read_code(&file)?;
        let code = if exports_function(kind, &file, &String::from_utf8_lossy(&bytes)) {
            Code::Function(file.clone())
        } else {
            Code::Program(file.clone())
        };
        let readable = match file.parent() {
            Some(parent) if parent != folder.root.path() => parent.to_owned(),
            // The root may be a home folder: only the script itself is made readable there.
            _ => file.clone(),
        };
        let digest = Some(digest(&bytes));
        Ok(Self { code, file: Some(file), readable: vec![readable], digest })
    }

    fn module(module: &str, function: &str, own: &Path, folder: &Folder) -> Result<Self, Fault> {
        let mut search = vec![own.to_owned()];
        if folder.tools != own {
            search.push(folder.tools.clone());
        }
        let mut found = search.iter().find_map(|folder| module_file(folder, module));
        if found.is_none() {
            found = module_file(folder.root.path(), module);
            if found.is_some() {
                // Python lists the folder it imports from, so the root itself must be readable then.
                search.push(folder.root.path().to_owned());
            }
        }
        let digest = match &found {
            Some(file) => Some(digest(&read_code(&folder.root.confine(file)?)?)),
            None => None,
        };
        let readable = search.clone();
        let code =
            Code::Module { module: module.to_owned(), function: function.to_owned(), search };
        Ok(Self { code, file: found, readable, digest })
    }
}

fn module_file(folder: &Path, module: &str) -> Option<PathBuf> {
    let path = module.split('.').fold(folder.to_owned(), |path, part| path.join(part));
    let package = path.join("__init__.py");
    [path.with_extension("py"), package].into_iter().find(|file| file.is_file())
}

/// Whether a script exports a function instead of reading stdin and printing.
fn exports_function(kind: ScriptKind, file: &Path, text: &str) -> bool {
    let lines = || text.lines().map(str::trim_start);
    match kind {
        ScriptKind::Python => false,
        ScriptKind::Node => {
            let module = file.extension().is_some_and(|ending| ending == "mjs");
            lines().any(|line| {
                line.starts_with("export default") || (!module && assigns_exports(line))
            })
        }
        ScriptKind::Php => lines().any(|line| {
            let value = line.strip_prefix("return").map(str::trim_start).unwrap_or_default();
            let value = value.strip_prefix("static").map_or(value, str::trim_start);
            value.starts_with("function") || value.starts_with("fn")
        }),
    }
}

fn assigns_exports(line: &str) -> bool {
    ["module.exports", "exports.default"].iter().any(|target| {
        let rest = line.strip_prefix(target).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('=') && !rest.starts_with("=="))
    })
}

/// The digest of the implementation, so that a changed script is a changed tool.
fn implementation(manifest: &Manifest, code: Option<Digest>) -> Digest {
    let how = match &manifest.execution {
        Execution::Cli(cli) => json!({
            "program": cli.program.source(),
            "arguments": cli.arguments.iter().map(|arg| arg.text.source()).collect::<Vec<_>>(),
        }),
        Execution::Script(script) => json!({
            "interpreter": script.interpreter,
            "source": match &script.source {
                Source::File(path) => path.clone(),
                Source::Function { module, function } => format!("{module}:{function}"),
            },
        }),
        Execution::Http(http) => json!({
            "url": http.url.source(),
            "method": http.method.as_str(),
            "headers": http.headers.iter()
                .map(|(name, value)| (name.as_str().to_owned(), Value::from(value.source())))
                .collect::<serde_json::Map<_, _>>(),
        }),
    };
    let whole = json!({
        "execution": how,
        "code": code,
        "caps": manifest.caps,
        "passthrough": manifest.passthrough,
    });
    digest(&canonical::bytes(&whole))
}
