//! Bodies to send.

/// Pseudo-random bytes, always the same for a size.
pub fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..size).map(step).collect()
}

/// The content type and body of a form; each part has a name, an optional file name and a body.
pub fn multipart(parts: &[(&str, Option<&str>, &[u8])]) -> (&'static str, Vec<u8>) {
    let mut body = Vec::new();
    for (name, file, bytes) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        let head =
            format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--edge--\r\n");
    ("multipart/form-data; boundary=edge", body)
}
