//! Images in answers and files. Only formats that cannot contain scripts are shown.

use maud::{Markup, html};
use serde_json::{Value, json};
use strip::Answer;

use crate::words::{in_url, size};

/// How many images of an answer are shown.
const MAX_IMAGES: usize = 20;

const MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// An image of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Image {
    /// In base64.
    Inline { media_type: &'static str, data: String },
    /// Stored because it is large.
    Stored { id: String, name: String },
}

/// The images in an answer: blocks of an MCP result, data URLs, and stored parts.
pub(super) fn of_answer(answer: &Answer) -> Vec<Image> {
    let mut images = Vec::new();
    let native = answer.native.as_deref().and_then(|native| native.get("content"));
    match (native, &answer.result) {
        (Some(content), _) => collect(content, &mut images),
        (None, Ok(data)) => collect(data, &mut images),
        (None, Err(_)) => {}
    }
    let stored = answer.references.iter().filter(|part| known(&part.media_type).is_some());
    images.extend(
        stored.map(|part| Image::Stored { id: part.id.to_string(), name: part.name.clone() }),
    );
    images.truncate(MAX_IMAGES);
    images
}

fn collect(value: &Value, images: &mut Vec<Image>) {
    match value {
        Value::String(text) => images.extend(data_url(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, images)),
        Value::Object(fields) => match image_block(value) {
            Some((media_type, data)) => {
                images.push(Image::Inline { media_type, data: data.to_owned() });
            }
            None => fields.values().for_each(|item| collect(item, images)),
        },
        _ => {}
    }
}

/// The media type and the data of an MCP image block.
fn image_block(value: &Value) -> Option<(&'static str, &str)> {
    let is_image = value["type"] == "image";
    let media_type = known(value["mimeType"].as_str()?).filter(|_| is_image)?;
    Some((media_type, value["data"].as_str().filter(|data| is_base64(data))?))
}

fn data_url(text: &str) -> Option<Image> {
    let (media_type, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    let media_type = known(media_type)?;
    is_base64(data).then(|| Image::Inline { media_type, data: data.to_owned() })
}

fn known(media_type: &str) -> Option<&'static str> {
    MEDIA_TYPES.into_iter().find(|known| media_type.eq_ignore_ascii_case(known))
}

fn is_base64(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    !text.is_empty() && text.bytes().all(plain)
}

/// A value in which the data of images is replaced by its size, because the images are shown.
pub(super) fn without_data(value: &Value) -> Value {
    let shown =
        |data: &str| json!(format!("({} of base64, shown as an image)", size(data.len() as u64)));
    match value {
        Value::String(text) => match data_url(text) {
            Some(_) => shown(text),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(without_data).collect(),
        Value::Object(fields) => match image_block(value) {
            Some((_, data)) => {
                let mut block = value.clone();
                block["data"] = shown(data);
                block
            }
            None => fields.iter().map(|(key, item)| (key.clone(), without_data(item))).collect(),
        },
        other => other.clone(),
    }
}

/// Whether a file of this media type can be shown as an image.
pub(super) fn is_image(media_type: &str) -> bool {
    known(media_type).is_some()
}

/// The media type of an image by its first bytes.
pub(super) fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The address of a file as an image.
pub(super) fn image_url(id: &str) -> String {
    format!("/dashboard/files/{}/image", in_url(id))
}

/// The images of an answer.
pub(super) fn gallery(images: &[Image]) -> Markup {
    html! {
        @if !images.is_empty() {
            div.gallery {
                @for (at, image) in images.iter().enumerate() {
                    @let alt = format!("Image {} of the answer", at + 1);
                    @match image {
                        Image::Inline { media_type, data } => {
                            img src=(format!("data:{media_type};base64,{data}")) alt=(alt);
                        }
                        Image::Stored { id, name } => {
                            a href=(format!("/dashboard/files/{}", in_url(id))) title=(crate::words::inert(name)) {
                                img src=(image_url(id)) alt=(alt);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_found_and_their_data_is_not_repeated() {
        let data = json!({"content": [
            {"type": "text", "text": "a chart"},
            {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
            {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zz4="},
            {"type": "image", "mimeType": "image/png", "data": "\"><script>"},
        ], "icon": "data:image/gif;base64,R0lGODlh", "link": "data:text/html;base64,PGI+"});
        let mut images = Vec::new();
        collect(&data, &mut images);
        let types: Vec<_> = images
            .iter()
            .map(|image| match image {
                Image::Inline { media_type, .. } => *media_type,
                Image::Stored { .. } => "stored",
            })
            .collect();
        assert_eq!(types, ["image/png", "image/gif"], "no other type, and nothing but base64");
        let shown = without_data(&data).to_string();
        assert!(!shown.contains("iVBORw0KGgo") && !shown.contains("R0lGODlh"), "{shown}");
        assert!(shown.contains("PHN2Zz4=") && shown.contains("PGI+"), "{shown}");
    }

    #[test]
    fn bytes_decide_what_is_an_image() {
        assert_eq!(sniff(b"\x89PNG\r\n"), Some("image/png"));
        assert_eq!(sniff(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(sniff(b"<svg xmlns="), None);
        assert_eq!(sniff(b""), None);
    }
}
