//! Names of files. Senders may choose anything; stored names are safe for file systems and readers.

/// The longest name that file systems accept.
const MAX_BYTES: usize = 255;

/// A name without folders, control characters and invisible characters; never empty.
pub(crate) fn clean(given: &str) -> String {
    let (visible, _) = proto::clean::text(given);
    let last = visible.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String =
        last.chars().filter(|c| !c.is_control() && !changes_direction(*c)).collect();
    // Leading dots hide a file; some systems drop trailing dots and spaces.
    let trimmed = plain.trim().trim_start_matches('.').trim_end_matches(['.', ' ']).trim();
    let short = shorten(trimmed);
    if short.is_empty() { "file".to_owned() } else { short }
}

/// Characters that change the text direction, so that `exe.txt` reads as something else.
fn changes_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}')
}

/// Shortens a name but not its extension, which people and programs rely on.
fn shorten(name: &str) -> String {
    if name.len() <= MAX_BYTES {
        return name.to_owned();
    }
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 16 => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let end = stem.floor_char_boundary(MAX_BYTES - extension.len());
    format!("{}{extension}", &stem[..end])
}

/// The `Content-Disposition` that makes a browser save a file under this name and never show it.
pub(crate) fn attachment(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' }
        })
        .collect();
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_folder_and_nothing_hidden() {
        for (given, cleaned) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("a\0b.txt", "ab.txt"),
            ("a\r\nContent-Type: x", "aContent-Type: x"),
            ("a\r\nContent-Type: text/html", "html"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
            ("..", "file"),
            (".", "file"),
            ("", "file"),
            ("/", "file"),
            (" .hidden. ", "hidden"),
            ("Größe 表.txt", "Größe 表.txt"),
        ] {
            assert_eq!(clean(given), cleaned, "{given:?}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_extension() {
        let long = clean(&format!("{}.pdf", "ä".repeat(2048)));
        assert!(long.len() <= MAX_BYTES && long.ends_with("ä.pdf"), "{long}");
        assert_eq!(clean(&"x".repeat(4096)).len(), MAX_BYTES);
        assert!(clean(&format!("a.{}", "y".repeat(4096))).len() <= MAX_BYTES);
    }

    #[test]
    fn a_name_cannot_leave_its_header() {
        assert_eq!(
            attachment("a\"; b=\u{e4}\\.txt"),
            "attachment; filename=\"a_; b=__.txt\"; filename*=UTF-8''a%22%3B%20b%3D%C3%A4%5C.txt"
        );
    }
}
