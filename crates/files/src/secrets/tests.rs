use proptest::prelude::{Just, any, prop, prop_assert, prop_oneof, proptest};
use proto::FileKind;
use serde_json::json;

use super::*;

fn secrets() -> (Secrets, String, String) {
    let mut secrets = Secrets::default();
    let id = FileId::from_random(FileKind::File, [7; 16]);
    let bytes: Vec<u8> = (0..=255).collect();
    secrets.add_bytes(&bytes[..48], &id);
    let url = Url::parse("http://127.0.0.1:7/v1/files/x/content?expires=1&sig=abc").unwrap();
    secrets.add_link(&url, &id);
    (secrets, BASE64_STANDARD.encode(&bytes), url.into())
}

#[test]
fn neither_bytes_nor_links_come_back() {
    let (secrets, bytes, link) = secrets();
    let mut value = json!({"echo": bytes, "said": format!("cannot open {link}, sorry"), link.clone(): [
        format!("'{}…' is too short", &bytes[..80]), "expires=1&sig=abc", 5]});
    secrets.scrub(&mut value);
    let text = value.to_string();
    assert!(
        !text.contains(&bytes[..64]) && !text.contains("sig=abc") && !text.contains("/v1/files"),
        "{text}"
    );
    assert!(text.contains("cannot open [link to file_"), "{text}");
    assert!(text.contains("' is too short") || text.contains("…' is too short"), "{text}");
}

/// Some servers write their input as JSON within a text, or as part of a URL.
#[test]
fn bytes_do_not_come_back_in_another_writing() {
    let mut secrets = Secrets::default();
    let bytes = [0xff, 0xef, 0xbe].repeat(100);
    secrets.add_bytes(&bytes[..48], &FileId::from_random(FileKind::File, [7; 16]));
    let plain = BASE64_STANDARD.encode(&bytes);
    assert!(plain.contains('/') && plain.contains('+'));
    for written in [
        plain.clone(),
        plain.replace('/', "\\/"),
        plain.replace('+', "%2B").replace('/', "%2F"),
        plain.replace('/', "_").replace('+', "-"),
    ] {
        let mut text = format!("I got '{written}', sorry");
        secrets.scrub_text(&mut text);
        let scrubbed = "I got '[bytes of file_07070707070707070707070707070707]', sorry";
        assert_eq!(text, scrubbed, "{written}");
    }
}

#[test]
fn failures_are_scrubbed() {
    let (secrets, bytes, link) = secrets();
    let failure = Failure::new(proto::Code::Internal, format!("bad: {bytes}"))
        .details(json!({"url": link}))
        .native(Arc::new(json!({"content": [{"text": link}]})))
        .caused_by(std::io::Error::other(link.clone()));
    let failure = secrets.scrub_failure(failure);
    let scrubbed = format!("{failure:?}");
    assert!(!scrubbed.contains("sig=abc") && !scrubbed.contains(&bytes[..64]), "{scrubbed}");
}

#[test]
fn base64_in_lines_goes_as_a_whole() {
    let (secrets, bytes, _) = secrets();
    let lines: Vec<_> = bytes.as_bytes().chunks(76).map(String::from_utf8_lossy).collect();
    for (between, after) in [("\n", "\nand more"), ("\r\n", " is bad"), ("\\n", "\" is bad")] {
        let mut text = format!("the input {}{after}", lines.join(between));
        secrets.scrub_text(&mut text);
        assert!(text.starts_with("the input [bytes of file_"), "{text}");
        assert!(lines.iter().all(|line| !text.contains(&**line)), "{text}");
        assert!(text.ends_with("more") || text.ends_with("bad"), "{text}");
    }
}

#[test]
fn a_text_that_was_cut_gives_nothing_away() {
    let (secrets, bytes, link) = secrets();
    for secret in [&bytes, &link] {
        for end in [24, 40, 63] {
            let secret = &secret[..end.min(secret.len() - 1)];
            let mut text = format!("cannot read {secret}…");
            secrets.scrub_text(&mut text);
            assert!(!text.contains(secret), "{text}");
        }
    }
    let mut text = "cannot read http://127.0.0.1:9".to_owned();
    secrets.scrub_text(&mut text);
    assert_eq!(text, "cannot read http://127.0.0.1:9");
}

proptest! {
    #[test]
    fn no_echo_of_a_file_is_left(
        bytes in prop::collection::vec(any::<u8>(), 12..600),
        before in "[ -~]{0,40}",
        after in "([^A-Za-z0-9+/=_-][ -~]{0,40})?",
        url_safe in any::<bool>(),
        line in prop_oneof![Just(usize::MAX), Just(64), Just(76)],
    ) {
        let mut secrets = Secrets::default();
        let id = FileId::from_random(FileKind::File, [7; 16]);
        secrets.add_bytes(&bytes[..bytes.len().min(48)], &id);
        let encoded =
            if url_safe { BASE64_URL_SAFE.encode(&bytes) } else { BASE64_STANDARD.encode(&bytes) };
        let lines: Vec<_> =
            encoded.as_bytes().chunks(line.min(encoded.len())).map(String::from_utf8_lossy).collect();
        let mut value = json!({"said": [format!("{before}{}{after}", lines.join("\n"))], "n": 1});
        secrets.scrub(&mut value);
        let text = value["said"][0].as_str().unwrap();
        for line in &lines {
            let piece = &line[..line.len().min(40)];
            prop_assert!(piece.len() < 16 || !text.contains(piece), "{text}");
        }
        prop_assert!(text.contains("[bytes of file_"), "{text}");
    }

    #[test]
    fn text_without_a_secret_stays(text in "[^\0]{0,200}") {
        let (secrets, _, _) = secrets();
        let mut value = json!({&text: text});
        let whole = value.clone();
        secrets.scrub(&mut value);
        prop_assert!(value == whole);
    }
}

#[test]
fn a_signature_does_not_come_back_however_the_link_is_written() {
    let signature = "Zm9vYmFyLWZvb2Jhci1mb29iYXItZm9vYmFyLWZvb2I";
    let token = "FwoGZXIvYXdzE%2FtTb%2B%2F%3D%3D0123456789";
    let id = FileId::from_random(FileKind::File, [7; 16]);
    for (link, secret) in [
        (
            format!("http://127.0.0.1:7/v1/files/x/content?expires=1&tenant=t&sig={signature}"),
            signature,
        ),
        (format!("https://s3/b/k?X-Amz-Expires=1&X-Amz-Signature={signature}"), signature),
        (format!("https://s3/b/k?X-Amz-Security-Token={token}&X-Amz-Expires=1"), "0123456789"),
    ] {
        let mut secrets = Secrets::default();
        secrets.add_link(&Url::parse(&link).unwrap(), &id);
        let encoded: String = form_urlencoded::byte_serialize(link.as_bytes()).collect();
        let decoded = link.replace("%2F", "/").replace("%2B", "+").replace("%3D", "=");
        let (_, query) = link.split_once('?').unwrap();
        for form in [
            link.replace('&', "\\u0026"),
            link.replace('/', "\\/").replace('&', "\\u0026"),
            decoded.replace('/', "\\/"),
            link.replace('&', "&amp;"),
            encoded,
            query.split('&').rev().collect::<Vec<_>>().join(" and "),
            format!("the signature {signature} and the token {token}"),
        ] {
            let mut text = format!("I got {form}, thanks");
            secrets.scrub_text(&mut text);
            assert!(!text.contains(secret) || !form.contains(secret), "{form} gives {text}");
        }
    }
}
