//! The media type of bytes by their content, not by a declared type.
//!
//! Our own table instead of a library: libraries stop at magic numbers, and the hard part is to distinguish Office files
//! among archives and text among other bytes.

mod words;

#[cfg(test)]
mod tests;

pub(crate) const PDF: &str = "application/pdf";
pub(crate) const DOCX: &str =
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
pub(crate) const PPTX: &str =
    "application/vnd.openxmlformats-officedocument.presentationml.presentation";
pub(crate) const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
pub(crate) const HTML: &str = "text/html";
pub(crate) const JSON: &str = "application/json";
pub(crate) const ZIP: &str = "application/zip";
pub(crate) const OLE: &str = "application/x-ole-storage";
pub(crate) const UNKNOWN: &str = "application/octet-stream";

/// The bytes from the beginning of a file that are enough to sniff it, except for unusual archives.
pub const SNIFFED: usize = 65_536;

/// The most entries of an archive in which its type is looked for.
const MOST_HEADERS: usize = 2_000;

/// Magic numbers: offset, bytes, media type. The first row that matches wins.
const MAGIC: [(usize, &[u8], &str); 46] = [
    (0, b"%PDF-", PDF),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"\0\0\x01\0", "image/vnd.microsoft.icon"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (0, b"\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"),
    (0, b"\xff\x0a", "image/jxl"),
    (0, b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"#!AMR", "audio/amr"),
    (0, b"MThd", "audio/midi"),
    (0, b"FLV\x01", "video/x-flv"),
    (0, b"\0\0\x01\xba", "video/mpeg"),
    (0, b"\0\0\x01\xb3", "video/mpeg"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"\x04\x22\x4d\x18", "application/x-lz4"),
    (257, b"ustar", "application/x-tar"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"\0asm", "application/wasm"),
    (0, b"\xca\xfe\xba\xbe", "application/java-vm"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"OTTO", "font/otf"),
    (0, b"\0\x01\0\0\0", "font/ttf"),
    (0, b"!<arch>\n", "application/x-archive"),
    (0, b"BM", "image/bmp"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf1", "audio/aac"),
    (0, b"\xff\xf9", "audio/aac"),
];

/// The media type of a file from its beginning ([`SNIFFED`] bytes, or all of it). The name only decides between kinds of
/// text, such as CSV and Markdown.
pub fn sniff(head: &[u8], name: Option<&str>) -> &'static str {
    container(head)
        .or_else(|| magic(head))
        .or_else(|| late_pdf(head))
        .or_else(|| words::kind(head, name))
        .unwrap_or(UNKNOWN)
}

fn magic(head: &[u8]) -> Option<&'static str> {
    MAGIC
        .iter()
        .find(|(offset, magic, kind)| {
            let fits = head.get(*offset..).is_some_and(|rest| rest.starts_with(magic));
            fits && (magic.len() > 2 || plausible(head, kind))
        })
        .map(|(_, _, kind)| *kind)
}

/// Two bytes alone are not conclusive: text can begin with `BM` and `MZ`.
fn plausible(head: &[u8], kind: &str) -> bool {
    match kind {
        "image/bmp" => head.get(6..10) == Some(&[0; 4]),
        "application/vnd.microsoft.portable-executable" => head.iter().take(64).any(|b| *b == 0),
        _ => true,
    }
}

/// PDF readers accept other bytes before the header, and mail programs add some.
fn late_pdf(head: &[u8]) -> Option<&'static str> {
    let start = &head[..head.len().min(1024)];
    // At the start of a line, so that a text about PDF stays a text.
    let headers = [b"\n%PDF-1.", b"\n%PDF-2.", b"\r%PDF-1.", b"\0%PDF-1."];
    headers.into_iter().any(|header| contains(start, header)).then_some(PDF)
}

/// Formats that share a container.
fn container(head: &[u8]) -> Option<&'static str> {
    match head {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(archive(head)),
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => Some(compound(head)),
        [b'R', b'I', b'F', b'F', _, _, _, _, kind @ ..] => match kind.get(..4)? {
            b"WEBP" => Some("image/webp"),
            b"WAVE" => Some("audio/wav"),
            b"AVI " => Some("video/x-msvideo"),
            _ => None,
        },
        [_, _, _, _, b'f', b't', b'y', b'p', brands @ ..] => Some(film(brands)),
        [_, _, _, _, b'm', b'o', b'o', b'v', ..] | [_, _, _, _, b'm', b'd', b'a', b't', ..] => {
            Some("video/quicktime")
        }
        [0x1a, 0x45, 0xdf, 0xa3, rest @ ..] => {
            let rest = &rest[..rest.len().min(64)];
            Some(if contains(rest, b"webm") { "video/webm" } else { "video/x-matroska" })
        }
        [b'O', b'g', b'g', b'S', rest @ ..] => {
            let rest = &rest[..rest.len().min(128)];
            Some(if contains(rest, b"theora") { "video/ogg" } else { "audio/ogg" })
        }
        _ => None,
    }
}

/// The kind of an ISO media file, by its brands; the first may be a general one.
fn film(brands: &[u8]) -> &'static str {
    let brands: Vec<&[u8]> = brands[..brands.len().min(64)].chunks_exact(4).collect();
    let has = |names: &[&[u8; 4]]| names.iter().any(|name| brands.contains(&name.as_slice()));
    match brands.first().copied() {
        _ if has(&[b"avif", b"avis"]) => "image/avif",
        _ if has(&[b"heic", b"heix", b"heim", b"heis", b"hevc"]) => "image/heic",
        Some(b"mif1" | b"msf1") => "image/heif",
        Some(b"qt  ") => "video/quicktime",
        Some(b"M4A " | b"M4B ") => "audio/mp4",
        Some(b"3gp4" | b"3gp5" | b"3gp6" | b"3ge6") => "video/3gpp",
        _ => "video/mp4",
    }
}

/// The kind of an archive, by the file names that are visible.
fn archive(head: &[u8]) -> &'static str {
    if let Some(kind) = named_kind(head) {
        return kind;
    }
    let names: Vec<&[u8]> = names(head).collect();
    let has = |start: &[u8]| names.iter().any(|name| name.starts_with(start));
    // A macro-enabled file is read like any other: nothing in it is ever run.
    if !has(b"[Content_Types].xml") {
        return if has(b"META-INF/MANIFEST.MF") { "application/java-archive" } else { ZIP };
    }
    match () {
        () if has(b"word/") => DOCX,
        () if has(b"ppt/") => PPTX,
        () if has(b"xl/") => XLSX,
        () => ZIP,
    }
}

/// The type that OpenDocument and EPUB name in an uncompressed file, which is the first in most archives.
fn named_kind(head: &[u8]) -> Option<&'static str> {
    const KINDS: [&str; 4] = [
        "application/epub+zip",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.presentation",
    ];
    let headers = head.windows(4).enumerate().filter(|(_, window)| *window == b"PK\x03\x04");
    headers.take(MOST_HEADERS).find_map(|(at, _)| {
        let header = head.get(at..at + 30)?;
        let number = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let name = at + 30;
        let content = name + number(26) + number(28);
        let is_named = head.get(name..name + number(26)) == Some(b"mimetype");
        let content = head.get(content..).filter(|_| is_named)?;
        let is = |kind: &&&str| {
            let rest = content.strip_prefix(kind.as_bytes());
            rest.is_some_and(|rest| !rest.starts_with(b"-template"))
        };
        KINDS.iter().find(is).copied()
    })
}

/// File names in local headers and in directory rows.
fn names(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let marks = bytes.windows(4).enumerate().filter_map(|(at, window)| match window {
        b"PK\x03\x04" => Some((at + 26, at + 30)),
        b"PK\x01\x02" => Some((at + 28, at + 46)),
        _ => None,
    });
    marks.filter_map(|(length, name)| {
        let length = bytes.get(length..length + 2)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        bytes.get(name..name + length)
    })
}

/// The old Office formats, by the names in their directory.
fn compound(head: &[u8]) -> &'static str {
    let has = |name: &str| contains(head, &wide(name));
    match () {
        () if has("EncryptedPackage") => OLE,
        () if has("WordDocument") => "application/msword",
        () if has("PowerPoint Document") => "application/vnd.ms-powerpoint",
        () if has("Workbook") => "application/vnd.ms-excel",
        () if has("__substg1.0_") => "application/vnd.ms-outlook",
        () => OLE,
    }
}

/// Whether this is an Office file with a password.
pub(crate) fn is_encrypted_office(bytes: &[u8]) -> bool {
    contains(bytes, &wide("EncryptedPackage"))
}

fn wide(name: &str) -> Vec<u8> {
    name.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
