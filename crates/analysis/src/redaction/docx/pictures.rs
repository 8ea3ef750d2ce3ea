//! Pictures of pixels without what they say about themselves: cameras, places, authors, comments.

/// A PNG or JPEG without metadata, and its extension; `None` for other and damaged pictures, which may hold text.
pub(super) fn without_metadata(bytes: &[u8]) -> Option<(Vec<u8>, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some((png(bytes)?, "png")),
        [0xff, 0xd8, 0xff, ..] => Some((jpeg(bytes)?, "jpeg")),
        _ => None,
    }
}

fn png(bytes: &[u8]) -> Option<Vec<u8>> {
    const SHOWN: [&[u8]; 10] =
        [b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"bKGD"];
    let (signature, mut rest) = bytes.split_at_checked(8)?;
    let mut out = signature.to_vec();
    loop {
        let (length, _) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        // The length, the name and the check sum take twelve bytes.
        let (chunk, after) = rest.split_at_checked(length.checked_add(12)?)?;
        let name = &chunk[4..8];
        if SHOWN.contains(&name) {
            out.extend_from_slice(chunk);
        }
        if name == b"IEND" {
            return Some(out);
        }
        rest = after;
    }
}

fn jpeg(bytes: &[u8]) -> Option<Vec<u8>> {
    const END: u8 = 0xd9;
    const SCAN: u8 = 0xda;
    let mut out = bytes[..2].to_vec();
    let mut at = 2;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else { return None };
        if marker == END {
            out.extend_from_slice(&[0xff, END]);
            return Some(out);
        }
        if marker == 0xff {
            at += 1;
            continue;
        }
        let length = bytes.get(at + 2..at + 4)?;
        let mut end = at + 2 + usize::from(u16::from_be_bytes([length[0], length[1]]));
        let content = bytes.get(at + 4..end)?;
        if marker == SCAN {
            // Coded pixels: a marker follows where 0xff is not escaped by zero, and is no restart.
            let is_marker =
                |pair: &[u8]| pair[0] == 0xff && pair[1] != 0 && !(0xd0..=0xd7).contains(&pair[1]);
            end += bytes[end..].windows(2).position(is_marker)?;
        }
        let is_dropped = match marker {
            0xe0 => !content.starts_with(b"JFIF\0"),
            0xe2 => !content.starts_with(b"ICC_PROFILE\0"),
            0xee => !content.starts_with(b"Adobe"),
            0xe1..=0xef | 0xfe => true,
            _ => false,
        };
        if !is_dropped {
            out.extend_from_slice(&bytes[at..end]);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::without_metadata;

    #[test]
    fn metadata_and_what_follows_the_end_are_dropped() {
        let segment = |marker: u8, content: &[u8]| {
            let length = u16::try_from(content.len() + 2).expect("short").to_be_bytes();
            [&[0xff, marker], &length[..], content].concat()
        };
        let kept = [segment(0xe0, b"JFIF\0"), segment(0xda, b"scan"), b"\x01\xff\x00\x02".to_vec()];
        let parts = [
            vec![0xff, 0xd8],
            kept[0].clone(),
            segment(0xe1, b"Exif Anna Weber"),
            segment(0xfe, b"Anna Weber"),
            kept[1].clone(),
            kept[2].clone(),
            b"\xff\xd9Anna Weber".to_vec(),
        ];
        let (done, extension) = without_metadata(&parts.concat()).expect("a picture");
        assert_eq!(done, [&[0xff, 0xd8], &*kept.concat(), &[0xff, 0xd9]].concat());
        assert_eq!(extension, "jpeg");
        let chunk = |name: &[u8; 4], content: &[u8]| {
            let length = u32::try_from(content.len()).expect("short").to_be_bytes();
            [&length[..], name, content, b"sum "].concat()
        };
        let signature = b"\x89PNG\r\n\x1a\n".to_vec();
        let (pixels, end) = (chunk(b"IDAT", b"pixels"), chunk(b"IEND", b""));
        let text = chunk(b"tEXt", b"Anna Weber");
        let source = [signature.clone(), pixels.clone(), text, end.clone(), b"Anna".to_vec()];
        let (done, _) = without_metadata(&source.concat()).expect("a picture");
        assert_eq!(done, [signature, pixels, end].concat());
        assert!(without_metadata(&source[..3].concat()).is_none(), "it has no end");
        assert!(without_metadata(b"<svg/>").is_none());
    }
}
