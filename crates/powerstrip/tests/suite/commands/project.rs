use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::CommandOutput;

/// A temporary folder in which commands run.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.run_with(arguments, "", &[])
    }

    pub(crate) fn run_with(
        &self,
        arguments: &[&str],
        stdin: &str,
        environment: &[(&str, &str)],
    ) -> CommandOutput {
        run_in(self.path(), arguments, stdin, environment)
    }
}

pub(crate) fn run_in(
    folder: &Path,
    arguments: &[&str],
    stdin: &str,
    environment: &[(&str, &str)],
) -> CommandOutput {
    let mut child = Command::new(env!("CARGO_BIN_EXE_powerstrip"))
        .args(arguments)
        .current_dir(folder)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads no input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    output.into()
}
