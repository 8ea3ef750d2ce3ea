//! What a conversion loses.

use std::collections::BTreeMap;

use kit::{Ctx, Fault, GivenFile};
use markup::Parts;

use crate::answer::Format;
use crate::works::INVENTORY;

/// What reading a file loses, whatever it is written as.
pub(crate) async fn by_reading(ctx: &Ctx, file: &GivenFile) -> Result<Vec<String>, Fault> {
    let is_package = file.media_type.contains("openxmlformats");
    if file.media_type == "application/pdf" {
        return Ok(vec!["the layout of pages, and their pictures".to_owned()]);
    }
    if !is_package {
        return Ok(Vec::new());
    }
    let done = ctx.work(&INVENTORY, &(), file.document()).await?;
    let counts: BTreeMap<String, usize> = serde_json::from_value(done.value).map_err(|error| {
        Fault::internal(format!("the reader's answer is no inventory: {error}"))
    })?;
    let mut lost: Vec<String> =
        counts.into_iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
    lost.push(match file.media_type {
        kind if kind.contains("spreadsheetml") => {
            "formulas, of which the values are kept".to_owned()
        }
        kind if kind.contains("presentationml") => "the layout of slides".to_owned(),
        _ => "bold and italic texts, page layout, headers and footers".to_owned(),
    });
    Ok(lost)
}

/// What a format cannot hold of a document.
pub(crate) fn by_writing(parts: &Parts, to: Format) -> Vec<String> {
    let remote = (
        "pictures that are not in the document, of which the address is kept",
        parts.remote_pictures,
    );
    let all = parts.pictures + parts.remote_pictures;
    let counts = match to {
        Format::Markdown | Format::Html => vec![],
        Format::Docx | Format::Pdf => vec![remote],
        Format::Text => vec![
            ("pictures", all),
            ("addresses of links", parts.links),
            ("bold and italic texts", parts.emphasis),
        ],
        Format::Csv => {
            vec![("paragraphs, headings and lists", parts.other_blocks), ("pictures", all)]
        }
    };
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(what, count)| format!("{what}: {count}")).collect()
}
