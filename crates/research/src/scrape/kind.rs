//! What a URL, a content type and the bytes themselves say about a document; the bytes win.

use url::Url;

use crate::scrape::markdown::is_html;
use crate::tools::ContentType;

/// What a response holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A web page.
    Html,
    /// Running text: Markdown, plain text, or source code.
    Text,
    Json,
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    /// Nothing that has text, such as an image.
    Other,
}

/// What bytes of no known format are called.
const UNKNOWN: &str = "application/octet-stream";

const OFFICE: &str = "application/vnd.openxmlformats-officedocument.";

impl Kind {
    /// What the ending of a URL's path says, if it says anything.
    pub(crate) fn of_url(url: &Url) -> Option<Self> {
        let name = url.path_segments()?.next_back()?.to_ascii_lowercase();
        match name.rsplit_once('.')?.1 {
            "pdf" => Some(Self::Pdf),
            "docx" => Some(Self::Docx),
            "pptx" => Some(Self::Pptx),
            "xlsx" => Some(Self::Xlsx),
            _ => None,
        }
    }

    /// What a `Content-Type` header says, if it says anything.
    pub(crate) fn of_type(header: &str) -> Option<Self> {
        let bare = media_type(header);
        match bare.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "application/pdf" | "application/x-pdf" => Some(Self::Pdf),
            "application/vnd.ms-powerpoint" => Some(Self::Pptx),
            "application/vnd.ms-excel" => Some(Self::Xlsx),
            "application/json" | "text/json" => Some(Self::Json),
            "application/xml" | "application/yaml" | "application/javascript" => Some(Self::Text),
            bare if bare.ends_with("+json") => Some(Self::Json),
            bare if bare.ends_with("+xml") => Some(Self::Text),
            bare if bare.starts_with("text/") => Some(Self::Text),
            bare => match bare.strip_prefix(OFFICE) {
                Some(part) if part.starts_with("presentationml") => Some(Self::Pptx),
                Some(part) if part.starts_with("spreadsheetml") => Some(Self::Xlsx),
                Some(_) => Some(Self::Docx),
                None => None,
            },
        }
    }

    /// What a response holds: by its bytes, and where those are text by its type and URL.
    pub(crate) fn of_body(body: &[u8], content_type: Option<&str>, url: &Url) -> Self {
        let declared = content_type.and_then(Self::of_type).or_else(|| Self::of_url(url));
        let found = documents::sniff(&body[..body.len().min(documents::SNIFFED)], None);
        match (Self::of_type(found), declared) {
            (Some(document @ (Self::Pdf | Self::Docx | Self::Pptx | Self::Xlsx)), _) => document,
            // An archive whose beginning does not show what it is.
            (None, Some(document @ (Self::Docx | Self::Pptx | Self::Xlsx)))
                if found == "application/zip" || found == "application/x-ole-storage" =>
            {
                document
            }
            // Bytes of no known format are what their sender says, if they can be.
            (None, Some(Self::Html)) if found == UNKNOWN && !is_mostly_binary(body) => Self::Html,
            (None, _) => Self::Other,
            (Some(text), None) => text,
            // A page that says it is text is shown as text, unless it is a whole HTML document.
            (Some(Self::Html), Some(Self::Text)) => {
                let whole = is_html(&String::from_utf8_lossy(&body[..body.len().min(2_000)]));
                if whole { Self::Html } else { Self::Text }
            }
            (Some(_), Some(declared @ (Self::Html | Self::Text | Self::Json))) => declared,
            // Text that says it is a PDF is most often the page of an error.
            (Some(text), Some(_)) => text,
        }
    }

    /// Whether it is read as a file, page by page.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Pdf | Self::Docx | Self::Pptx | Self::Xlsx)
    }

    /// The name in answers; `None` for what has no text.
    pub(crate) fn content_type(self) -> Option<ContentType> {
        match self {
            Self::Html => Some(ContentType::Html),
            Self::Text => Some(ContentType::Text),
            Self::Json => Some(ContentType::Json),
            Self::Pdf => Some(ContentType::Pdf),
            Self::Docx => Some(ContentType::Docx),
            Self::Pptx => Some(ContentType::Pptx),
            Self::Xlsx => Some(ContentType::Xlsx),
            Self::Other => None,
        }
    }

    /// The media type for the reader.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Html => "text/html",
            Self::Text => "text/plain",
            Self::Json => "application/json",
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Other => UNKNOWN,
        }
    }
}

/// The media type by which `scrape_page` reads a body; `None` if no text is read from it.
pub fn media_type_of_body(
    body: &[u8],
    content_type: Option<&str>,
    url: &Url,
) -> Option<&'static str> {
    let kind = Kind::of_body(body, content_type, url);
    kind.content_type().map(|_| kind.media_type())
}

/// Whether a quarter of the bytes are control characters.
fn is_mostly_binary(body: &[u8]) -> bool {
    let head = &body[..body.len().min(documents::SNIFFED)];
    let is_control = |byte: &&u8| matches!(**byte, 0..=8 | 0xe..=0x1f | 0x7f);
    head.iter().filter(is_control).count() * 4 > head.len()
}

/// The type without its parameters, in lower case.
pub(crate) fn media_type(header: &str) -> String {
    header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The charset of a `Content-Type` header.
fn charset(header: &str) -> Option<&str> {
    let parameters = header.split(';').skip(1).map(str::trim);
    let value = parameters.filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    value.into_iter().next().filter(|value| !value.is_empty())
}

/// The charset that a server names, unless the bytes cannot be in it.
pub(crate) fn believable_charset<'a>(header: &'a str, body: &[u8]) -> Option<&'a str> {
    let named = charset(header)?;
    let utf8 = named.eq_ignore_ascii_case("utf-8") || named.eq_ignore_ascii_case("utf8");
    // A body that was cut may end within a character.
    let broken = || std::str::from_utf8(body).is_err_and(|error| error.error_len().is_some());
    if utf8 && broken() { None } else { Some(named) }
}

#[cfg(test)]
mod tests;
