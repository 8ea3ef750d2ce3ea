mod examples;
mod loading;
mod rendering;
mod shipped;

use std::fs;
use std::path::{Path, PathBuf};

use proto::{Finding, PromptRef, Severity};
use tempfile::TempDir;

use super::{Prompt, Snapshot, lint};

const SPEC: &str = "\
description: Greets a person by name, once or several times.
inputSchema:
  type: object
  properties:
    name: { type: string, description: Who is greeted }
    times: { type: integer, minimum: 1, maximum: 3, description: How often }
  required: [name]
";

/// A prompts folder that goes away with the test.
struct Dir(TempDir);

impl Dir {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A folder with `demo/hello.v1.md` and its spec, pinned.
    fn with_hello() -> Self {
        let dir = Self::new();
        dir.write("packs/demo/hello.spec.yaml", SPEC);
        dir.write("packs/demo/hello.v1.md", "Hello {{ name }}!");
        super::pin(dir.path()).unwrap();
        dir
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::load(self.path()).0
    }

    fn errors(&self) -> Vec<String> {
        texts(self, &lint(self.path()), Severity::Error)
    }

    fn warnings(&self) -> Vec<String> {
        texts(self, &lint(self.path()), Severity::Warning)
    }
}

/// `file:line: message` of the findings of one severity, files relative to the folder.
fn texts(dir: &Dir, findings: &[Finding], severity: Severity) -> Vec<String> {
    findings
        .iter()
        .filter(|finding| finding.severity == severity)
        .map(|finding| {
            let file = finding.file.strip_prefix(dir.path()).unwrap().display();
            let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{file}{line}: {}", finding.message)
        })
        .collect()
}

fn get<'a>(snapshot: &'a Snapshot, reference: &str) -> &'a Prompt {
    snapshot.get(&reference.parse::<PromptRef>().unwrap()).unwrap()
}
