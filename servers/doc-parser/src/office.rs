//! Old Office formats, which LibreOffice converts.

use std::time::Duration;

use kit::{Ctx, Engine, Fault, GivenFile, Program, Skipped, Task};
use serde_json::json;

/// The largest file that LibreOffice may write.
const MAX_CONVERTED: u64 = 64 << 20;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The extension of an old format, and of the one that it is converted to.
fn conversion(media_type: &str) -> Option<(&'static str, &'static str)> {
    Some(match media_type {
        "application/msword" => ("doc", "docx"),
        "application/vnd.ms-powerpoint" => ("ppt", "pptx"),
        "application/vnd.ms-excel" => ("xls", "xlsx"),
        "application/vnd.oasis.opendocument.text" => ("odt", "docx"),
        "application/vnd.oasis.opendocument.spreadsheet" => ("ods", "xlsx"),
        "application/vnd.oasis.opendocument.presentation" => ("odp", "pptx"),
        "application/rtf" | "text/rtf" => ("rtf", "docx"),
        _ => return None,
    })
}

/// A file in a format that can be read, and the program that made it.
#[derive(Debug)]
pub(crate) struct Readable {
    pub(crate) file: GivenFile,
    pub(crate) engine: Option<Engine>,
}

/// Converts a file if it has an old format.
pub(crate) async fn readable(
    file: GivenFile,
    ctx: &Ctx,
    office: &Program,
) -> Result<Readable, Fault> {
    let Some((from, to)) = conversion(file.media_type) else {
        return Ok(Readable { file, engine: None });
    };
    let engine = ctx.engine(office).await?;
    let source = format!("document.{from}");
    let arguments = ["--headless", "--norestore", "--convert-to", to, "--outdir", ".", &source];
    let task = Task::new(arguments).file(&source, file.bytes).deadline(TIMEOUT);
    let ran = ctx.run(office, task).await?;
    if !ran.success {
        return Err(Fault::invalid_input(
            "LibreOffice could not open this file; save it again and send that",
        )
        .details(json!({"reason": "damaged"})));
    }
    let bytes = ran.file(&format!("document.{to}"), MAX_CONVERTED).await?;
    let media_type = documents::sniff(&bytes, None);
    let file = GivenFile { bytes, media_type, warnings: file.warnings };
    Ok(Readable { file, engine: Some(engine) })
}

/// What is left out because LibreOffice is missing; `None` if the file can be read without it.
pub(crate) async fn skipped(file: &GivenFile, ctx: &Ctx, office: &Program) -> Option<Skipped> {
    conversion(file.media_type)?;
    ctx.engine(office).await.err().map(|_| Skipped {
        what: format!("everything but the type of a file in {}", file.media_type),
        why: format!("the program `{}` was not found", office.name()),
        fix: office.fix(),
    })
}
