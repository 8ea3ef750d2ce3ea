//! Old Office formats, which LibreOffice converts.

use kit::{Ctx, Engine, Fault, GivenFile, Office, OfficeFile, Skipped};

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
    office: &Office,
) -> Result<Readable, Fault> {
    let Some((from, to)) = conversion(file.media_type) else {
        return Ok(Readable { file, engine: None });
    };
    let OfficeFile { bytes, engine } = office.convert(ctx, file.bytes, from, to).await?;
    let media_type = documents::sniff(&bytes, None);
    let file = GivenFile { bytes, media_type, warnings: file.warnings };
    Ok(Readable { file, engine: Some(engine) })
}

/// What is left out because LibreOffice is missing; `None` if the file can be read without it.
pub(crate) async fn skipped(file: &GivenFile, ctx: &Ctx, office: &Office) -> Option<Skipped> {
    conversion(file.media_type)?;
    let office = office.program();
    ctx.engine(office).await.err().map(|_| Skipped {
        what: format!("everything but the type of a file in {}", file.media_type),
        why: format!("the program `{}` was not found", office.name()),
        fix: office.fix(),
    })
}
