//! Removes signed links and the bytes of files from stderr, which is shown in logs and on status pages.

/// Shorter runs may be words or paths.
const MIN_BASE64: usize = 80;

/// Parameters of a signed link.
const SIGNATURE_PARAMS: [&str; 3] = ["sig=", "X-Amz-Signature=", "X-Amz-Security-Token="];

/// The text without signatures of links and without long runs of base64.
pub(crate) fn scrubbed(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(sign) = SIGNATURE_PARAMS.iter().find(|sign| rest.starts_with(**sign)) {
            clean.push_str(sign);
            clean.push('…');
            rest = &rest[sign.len()..];
            rest = &rest[end_of(rest, |c| is_base64(c) || matches!(c, '%' | '.' | '~'))..];
            continue;
        }
        let run = end_of(rest, is_base64);
        // A run may include the name of a parameter.
        let named = SIGNATURE_PARAMS.iter().filter_map(|sign| rest[..run].find(sign)).min();
        let run = named.unwrap_or(run);
        match run {
            0 => {
                clean.push(first);
                rest = &rest[first.len_utf8()..];
            }
            run if run >= MIN_BASE64 && is_mixed(&rest[..run]) => {
                clean.push_str("[base64]");
                rest = &rest[run..];
            }
            run => {
                clean.push_str(&rest[..run]);
                rest = &rest[run..];
            }
        }
    }
    clean
}

fn end_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')
}

/// Base64 has upper and lower case; a ruler of dashes has neither.
fn is_mixed(run: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| run.as_bytes().iter().any(kind);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests;
