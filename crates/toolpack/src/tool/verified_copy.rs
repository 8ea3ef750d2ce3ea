//! The code of an approved call: a digest of it, and a verified copy that is run in its place.
//!
//! The digest covers the program or interpreter and every file in the folders of the pack's code. When the call runs,
//! those files are copied to a private folder and the digest is computed from the copied bytes, so that a file that is
//! exchanged later has no effect. The launcher executes programs outside of these folders from the descriptor whose
//! digest it checked.

mod files;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use egress::process::{Sha256, Shebang, Spec, copy_with_digest, open_regular};
use proto::{Code as ErrorCode, Digest, Failure};
use strip::Job;
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::failures::{code_changed, run_failure};
use super::pack_tool::PackTool;
use crate::contract;
use crate::manifest::Execution;
use crate::pack::Code;
use files::{CodePaths, DigestInput, mirrored};

/// The verified copy of the code that one call runs.
pub(super) struct VerifiedCopy {
    /// Taken when the copy is removed.
    copy: Option<TempDir>,
    paths: CodePaths,
    launch: Launch,
}

/// What is executed: a program that the kernel runs, and the script that it reads, if there is one.
struct Launch {
    program: PathBuf,
    digest: Sha256,
    /// The words between the program and the arguments: the argument of the shebang line, and the script.
    words: Vec<OsString>,
    script: Option<PathBuf>,
}

impl Launch {
    fn record(&self, script_digest: Option<&Sha256>, records: &mut DigestInput) -> io::Result<()> {
        records.add(b"program", &fs::canonicalize(&self.program)?, &self.digest);
        for word in &self.words {
            records.add(b"word", Path::new(word), &[]);
        }
        if let (Some(script), Some(digest)) = (&self.script, script_digest) {
            records.add(b"script", &fs::canonicalize(script)?, digest);
        }
        Ok(())
    }
}

impl PackTool {
    /// The digest of the code that the call would run now.
    pub(super) async fn digest_code(&self, job: &Job) -> Result<Digest, Failure> {
        let (located, paths) = self.locate_code(job).await?;
        let computing = move || digest_code(&located, &paths, None).map(|(digest, _)| digest);
        blocking(computing).await?.map_err(unreadable)
    }

    /// Copies the code that the call would run, if it is what was approved.
    pub(super) async fn copy_approved(
        &self,
        job: &Job,
        approved: &Digest,
    ) -> Result<VerifiedCopy, Failure> {
        let (located, paths) = self.locate_code(job).await?;
        let approved = *approved;
        let copied = blocking(move || {
            let copy = tempfile::Builder::new()
                .prefix("powerstrip-code-")
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir()?;
            // Paths must be the ones that the sandbox sees, without links.
            let folder = copy.path().canonicalize()?;
            let (digest, launch) = digest_code(&located, &paths, Some(&folder))?;
            let copy = VerifiedCopy { copy: Some(copy), paths, launch };
            Ok((digest == approved).then_some(copy))
        });
        copied.await?.map_err(unreadable)?.ok_or_else(code_changed)
    }

    /// Locates the program, its interpreter if it is a script, and the paths of its code.
    async fn locate_code(&self, job: &Job) -> Result<(Located, CodePaths), Failure> {
        let written = match &self.pack.manifest.execution {
            Execution::Cli(cli) => self.cli_program(cli, job)?,
            Execution::Script(script) => script.interpreter().to_owned(),
            Execution::Http(_) => {
                return Err(contract::tool_failure("an HTTP tool runs no code here"));
            }
        };
        let runner = &self.runtime.runner;
        let program = runner.locate(self.program_path(&written)).await.map_err(run_failure)?;
        let shebang = open_regular(&program).and_then(|mut file| Shebang::read(&mut file));
        let shebang = shebang.map_err(unreadable)?;
        let interpreter = match &shebang {
            None => None,
            Some(line) => {
                let (name, words) = interpreter_of(line);
                Some((runner.locate(name).await.map_err(run_failure)?, words))
            }
        };
        let caps = &self.pack.manifest.caps.files;
        let real = |path: &String| fs::canonicalize(self.pack.folder.join(path)).ok();
        let mut code: Vec<PathBuf> =
            self.pack.readable.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        // A program that the author names by a relative path belongs to the pack, with the files around it.
        if written.contains('/') && Path::new(&written).is_relative() {
            code.extend(program.parent().and_then(|folder| fs::canonicalize(folder).ok()));
        }
        let paths = CodePaths::new(
            code,
            caps.read.iter().filter_map(real).collect(),
            caps.write.iter().filter_map(real).collect(),
        );
        Ok((Located { program, interpreter }, paths))
    }
}

/// A program and, if it is a script, its interpreter with the arguments of its shebang line.
struct Located {
    program: PathBuf,
    interpreter: Option<(PathBuf, Vec<OsString>)>,
}

/// The interpreter of a shebang line, and the arguments before the script. A name after `env` is looked up here, so that
/// the digest covers the program that `env` would find.
fn interpreter_of(line: &Shebang) -> (OsString, Vec<OsString>) {
    let written = OsString::from_vec(line.interpreter.clone());
    let argument = line.argument.as_deref().unwrap_or_default();
    if line.interpreter.ends_with(b"/env") {
        let split = argument.strip_prefix(b"-S").filter(|rest| rest.starts_with(b" "));
        let mut words = split.unwrap_or(argument).split(u8::is_ascii_whitespace);
        let mut words = words.by_ref().filter(|word| !word.is_empty());
        let plain = |word: &&[u8]| !word.starts_with(b"-") && !word.contains(&b'=');
        if let Some(name) = words.next().filter(plain) {
            let rest: Vec<_> = words.map(|word| OsStr::from_bytes(word).to_owned()).collect();
            if rest.is_empty() || split.is_some() {
                return (OsStr::from_bytes(name).to_owned(), rest);
            }
        }
    }
    (written, line.argument.iter().map(|argument| OsString::from_vec(argument.clone())).collect())
}

/// Computes the digest of all code, and how it is launched: from the copy, where one is made.
fn digest_code(
    located: &Located,
    paths: &CodePaths,
    copy: Option<&Path>,
) -> io::Result<(Digest, Launch)> {
    let mut records = DigestInput::default();
    paths.record(copy, &mut records)?;
    // Copied files run from the copy; if one was exchanged meanwhile, the digest differs.
    let of_copy = |path: &Path| {
        let mirror = mirrored(copy?, &path.canonicalize().ok()?);
        let real = mirror.canonicalize().ok()?;
        (real.starts_with(copy?) && real.is_file()).then_some(mirror)
    };
    let digest = |path: &Path| copy_with_digest(&mut open_regular(path)?, &mut io::sink());
    let (program, words, script) = match &located.interpreter {
        None => (&located.program, Vec::new(), None),
        Some((interpreter, words)) => (interpreter, words.clone(), Some(&located.program)),
    };
    let mut launch = Launch {
        program: program.clone(),
        digest: digest(program)?.0,
        words,
        script: script.cloned(),
    };
    let script_digest = script.map(|script| digest(script)).transpose()?.map(|(digest, _)| digest);
    launch.record(script_digest.as_ref(), &mut records)?;
    launch.program = of_copy(&launch.program).unwrap_or(launch.program);
    if let Some(script) = &mut launch.script {
        *script = of_copy(script).unwrap_or_else(|| script.clone());
        launch.words.push(script.clone().into_os_string());
    }
    Ok((records.digest(), launch))
}

impl VerifiedCopy {
    /// The folder that holds the copy.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = self.copy.as_ref().map(|copy| copy.path().to_owned()).unwrap_or_default();
        folder.canonicalize().unwrap_or(folder)
    }

    /// The program, which runs only if it is the one that was approved.
    pub(super) fn spec(&self) -> Spec {
        let Launch { program, digest, words, script } = &self.launch;
        let spec = Spec::new(program).digest(*digest).args(words.iter().cloned());
        match script {
            Some(script) => spec.installed(script),
            None => spec,
        }
    }

    /// The copy of the file that an argument names, or the argument itself.
    pub(super) fn path(&self, argument: &str) -> OsString {
        let path = Path::new(argument);
        if path.is_absolute() { self.copied(path).into_os_string() } else { argument.into() }
    }

    /// The same code, in the copy.
    pub(super) fn code(&self, code: &Code) -> Code {
        match code {
            Code::Program(file) => Code::Program(self.copied(file)),
            Code::Function(file) => Code::Function(self.copied(file)),
            Code::Module { module, function, search } => Code::Module {
                module: module.clone(),
                function: function.clone(),
                search: search.iter().map(|folder| self.copied(folder)).collect(),
            },
        }
    }

    fn copied(&self, path: &Path) -> PathBuf {
        match path.canonicalize() {
            Ok(real) if self.paths.is_copied(&real) => mirrored(&self.folder(), &real),
            _ => path.to_owned(),
        }
    }
}

impl Drop for VerifiedCopy {
    fn drop(&mut self) {
        let Some(copy) = self.copy.take() else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || drop(copy));
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| {
        contract::tool_failure("the tool's code could not be read").caused_by(error)
    })
}

/// The code cannot be read completely, so no approval can cover it.
fn unreadable(error: io::Error) -> Failure {
    Failure::new(
        ErrorCode::Denied,
        format!("the tool's code cannot be read for an approval, so it was not run: {error}"),
    )
}
