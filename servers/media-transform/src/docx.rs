//! `generate_docx`.

use kit::{Ctx, Document as GivenDocument, Fault, GivenFile, Linked, Office};
use markup::{DocxOptions, to_docx};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Format, StoredFile};
use crate::input::{Given, Notation, stored};
use crate::parts::joined;
use crate::pdf::PageName;
use crate::read::{self, Read};
use crate::works::{FILL, Filling};

/// The largest data, in bytes of JSON.
const MAX_DATA: usize = 4 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A document that an earlier answer of this server named.
    source_ref_id: Option<String>,
    /// A document in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: Option<String>,
    /// The media type of `file_data`.
    file_type: Option<String>,
    /// The text, unless a document is given. With a template, both may be left out.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// What the text is written in; Markdown by default.
    from: Option<Notation>,
    /// For the properties of the file; the heading of level 1 by default.
    #[schemars(length(min = 1, max = 300))]
    title: Option<String>,
    #[schemars(length(min = 1, max = 300))]
    author: Option<String>,
    /// A DOCX file of this server as template.
    template_ref_id: Option<String>,
    /// A DOCX file in base64 as template; a gateway fills it in.
    #[schemars(length(min = 1))]
    template_file_data: Option<String>,
    /// The media type of `template_file_data`.
    template_file_type: Option<String>,
    /// A template has pages of its own.
    #[serde(default)]
    page: PageName,
    /// Values for the template, such as `{"customer": {"name": "Ada"}}` for `{{ customer.name }}`.
    data: Option<serde_json::Map<String, Value>>,
}

pub(crate) async fn generate(
    input: Input,
    ctx: Ctx,
    office: Office,
) -> Result<Linked<StoredFile>, Fault> {
    let given = Given {
        source_ref_id: input.source_ref_id,
        file_data: input.file_data,
        file_type: input.file_type,
        text: input.text,
        from: input.from,
    };
    let template = match (input.template_ref_id, input.template_file_data) {
        (None, None) => None,
        (Some(reference), None) => Some(stored(&ctx, &reference).await?),
        (None, Some(data)) => {
            let declared = input.template_file_type.as_deref();
            Some(GivenFile::decode("template_file_data", &data, declared)?)
        }
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input(
                "/template_file_data: give a file or `template_ref_id`, not both",
            ));
        }
    };
    if input.data.is_some() && template.is_none() {
        return Err(Fault::invalid_input("/data: it fills a template; give `template_file_data`"));
    }
    let read = if given.is_empty() && template.is_some() {
        None
    } else {
        Some(read::read(given.source(&ctx).await?, &ctx, &office).await?.with_text()?)
    };
    let mut warnings = Vec::new();
    let document = read.map(|Read { document, warnings: of_source, lost, .. }| {
        warnings.extend(of_source);
        warnings.extend(lost.into_iter().map(|lost| format!("not kept: {lost}")));
        document
    });
    let bytes = match template {
        Some(template) => {
            warnings.extend(template.warnings.iter().cloned());
            let data = Value::Object(input.data.unwrap_or_default());
            if data.to_string().len() > MAX_DATA {
                let message = format!("/data: it has more than {MAX_DATA} bytes; send less");
                return Err(Fault::invalid_input(message).details(json!({"reason": "too_large"})));
            }
            let filling = Filling { document, title: input.title, author: input.author, data };
            let filling = serde_json::to_vec(&filling)
                .map_err(|error| Fault::internal(format!("the document is not JSON: {error}")))?;
            let (lengths, bytes) = joined(vec![template.bytes, filling]);
            let parts = GivenDocument::new(bytes, template.media_type);
            ctx.work(&FILL, &lengths, parts).await?.bytes
        }
        None => {
            let options = DocxOptions {
                title: input.title,
                author: input.author,
                page: input.page.into(),
                page_numbers: true,
            };
            let document = document.unwrap_or_default();
            kit::blocking(move || to_docx(&document, &options))
                .await?
                .map_err(|error| Fault::invalid_input(error.to_string()))?
        }
    };
    let stored = Format::Docx.store(&ctx, bytes).await?;
    let (format, skipped) = (Format::Docx, Vec::new());
    Ok(StoredFile { stored, format, warnings, skipped }.linked())
}
