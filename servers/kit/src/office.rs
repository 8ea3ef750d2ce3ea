//! LibreOffice, which converts Office files.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::{Ctx, Engine, Fault, Program, Task};

/// The largest file that LibreOffice may write.
const MAX_CONVERTED: u64 = 64 << 20;

/// It ends with this code after it has made its profile, and wants to be started again.
const RESTART: i32 = 81;

const TIMEOUT: Duration = Duration::from_secs(50);

/// Where Debian keeps its settings and those of fonts.
const SETTINGS: &[&str] = &[
    "/etc/libreoffice",
    "/var/lib/libreoffice",
    "/var/spool/libreoffice",
    "/etc/fonts",
    "/var/cache/fontconfig",
];

/// LibreOffice, if it is installed.
#[derive(Debug, Clone)]
pub struct Office {
    program: Program,
}

/// A file that LibreOffice has made.
#[derive(Debug)]
pub struct OfficeFile {
    pub bytes: Vec<u8>,
    pub engine: Engine,
}

impl Office {
    /// LibreOffice at this path, or else in `PATH`.
    pub fn new(path: Option<PathBuf>) -> Self {
        // The script `libreoffice` starts a splash screen that wants to write to /tmp.
        let program = Program::new("libreoffice", "libreoffice");
        Self {
            program: program
                .at(path)
                .file_in_folder("soffice.bin")
                .reads(SETTINGS)
                .listens()
                .restarts_after(RESTART),
        }
    }

    /// The program, for health reports and answers.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Converts a file: extensions such as `doc` and `docx` name the formats. UNSUPPORTED without LibreOffice.
    pub async fn convert(
        &self,
        ctx: &Ctx,
        bytes: Vec<u8>,
        from: &str,
        to: &str,
    ) -> Result<OfficeFile, Fault> {
        let engine = ctx.engine(&self.program).await?;
        let source = format!("document.{from}");
        let arguments = [
            "--headless",
            "--norestore",
            "--nolockcheck",
            "--nodefault",
            "--convert-to",
            to,
            "--outdir",
            ".",
            &source,
        ];
        // It listens at a socket, for which it uses /tmp otherwise.
        let task =
            Task::new(arguments).file(&source, bytes).env("OSL_SOCKET_PATH", ".").deadline(TIMEOUT);
        let ran = ctx.run(&self.program, task).await?;
        if !ran.success {
            return Err(damaged());
        }
        let bytes = ran.file(&format!("document.{to}"), MAX_CONVERTED).await?;
        if bytes.is_empty() {
            return Err(damaged());
        }
        Ok(OfficeFile { bytes, engine })
    }
}

fn damaged() -> Fault {
    Fault::invalid_input("LibreOffice could not open this file; save it again and send that")
        .details(json!({"reason": "damaged"}))
}
