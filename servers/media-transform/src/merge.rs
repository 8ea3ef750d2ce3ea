//! `merge_pdf`.

pub(crate) mod join;
mod links;

use kit::{Ctx, Document as GivenDocument, Fault, GivenFile, Linked, StoredRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answer::Format;
use crate::input::stored;
use crate::pages;
use crate::parts::joined;

/// The most bytes of all files together.
const MAX_TOTAL: usize = 60 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// PDFs in base64; a gateway fills them in.
    #[schemars(length(min = 1, max = 20))]
    file_data: Option<Vec<String>>,
    /// Their media types.
    #[schemars(length(max = 20))]
    file_type: Option<Vec<String>>,
    /// PDFs that earlier answers of this server named.
    #[schemars(length(min = 1, max = 20))]
    source_ref_ids: Option<Vec<String>>,
    /// For each file its pages in their new order, such as `1-3,7`; an empty text, or none, is all pages.
    #[schemars(length(max = 20))]
    pages: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    stored: StoredRef,
    format: Format,
    page_count: usize,
    warnings: Vec<String>,
}

pub(crate) async fn merge(input: Input, ctx: Ctx) -> Result<Linked<Output>, Fault> {
    let types = input.file_type.unwrap_or_default();
    let files = match (input.file_data, input.source_ref_ids) {
        (Some(data), None) => {
            let decode = |(at, data): (usize, String)| {
                let declared = types.get(at).map(String::as_str);
                GivenFile::decode(&format!("file_data/{at}"), &data, declared)
            };
            data.into_iter().enumerate().map(decode).collect::<Result<Vec<_>, _>>()?
        }
        (None, Some(references)) => {
            let mut files = Vec::new();
            for reference in references {
                files.push(stored(&ctx, &reference).await?);
            }
            files
        }
        _ => {
            return Err(Fault::invalid_input(
                "/file_data: give exactly one of `file_data` and `source_ref_ids`",
            ));
        }
    };
    let texts = input.pages.unwrap_or_default();
    if texts.len() > files.len() {
        return Err(Fault::invalid_input("/pages: there are more entries than files"));
    }
    let mut ranges = vec![Vec::new(); files.len()];
    for (at, text) in texts.iter().enumerate() {
        ranges[at] = pages::parse(text, at)?;
    }
    let total: usize = files.iter().map(|file| file.bytes.len()).sum();
    if total > MAX_TOTAL {
        let message = format!("the files have {total} bytes, at most {MAX_TOTAL} are merged");
        return Err(Fault::invalid_input(message).details(json!({"reason": "too_large"})));
    }
    let mut warnings = Vec::new();
    for (at, file) in files.iter().enumerate() {
        if file.media_type != "application/pdf" {
            let message = format!(
                "file {} is {} and no PDF; convert it with convert_to_pdf first",
                at + 1,
                file.media_type
            );
            return Err(Fault::invalid_input(message).details(json!({"reason": "unsupported"})));
        }
        warnings.extend(file.warnings.iter().cloned());
    }
    let (lengths, bytes) = joined(files.into_iter().map(|file| file.bytes).collect());
    let options = join::Options { lengths, ranges };
    let merged =
        ctx.work(&join::MERGE, &options, GivenDocument::new(bytes, "application/pdf")).await?;
    let report: join::Report = serde_json::from_value(merged.value)
        .map_err(|error| Fault::internal(format!("the reader's answer is no report: {error}")))?;
    if report.dropped_links > 0 {
        let count = report.dropped_links;
        warnings.push(format!("links within the documents are not kept: {count}"));
    }
    if report.form_fields {
        warnings.push("form fields are not kept".to_owned());
    }
    if report.dropped_marks > 0 {
        let count = report.dropped_marks;
        warnings.push(format!("notes, stamps, highlights and drawings are not kept: {count}"));
    }
    let stored = Format::Pdf.store(&ctx, merged.bytes).await?;
    let (format, page_count) = (Format::Pdf, report.pages);
    Ok(Linked::new(Output { stored: stored.clone(), format, page_count, warnings }, [stored]))
}
