use super::*;

#[test]
fn links_and_bytes_are_left_out_and_words_stay() {
    let signature = "Zm9vYmFyLWZvb2Jhci1mb29iYXItZm9vYmFyLWZvb2I";
    let bytes = "QUJDREVGZ2hpamtsbW5vcA+/".repeat(10);
    for (said, clean) in [
        (
            format!("cannot open http://h/v1/files/x/content?expires=1&sig={signature}, sorry"),
            "cannot open http://h/v1/files/x/content?expires=1&sig=…, sorry".to_owned(),
        ),
        (
            format!("GET /b?X-Amz-Security-Token=Fwo%2FG&X-Amz-Signature={signature}\nend"),
            "GET /b?X-Amz-Security-Token=…&X-Amz-Signature=…\nend".to_owned(),
        ),
        (format!("got '{bytes}'=="), "got '[base64]'==".to_owned()),
        (format!("sig={signature}"), "sig=…".to_owned()),
    ] {
        assert_eq!(scrubbed(&said), clean);
    }
    for words in ["", "no such file: /usr/lib/node/index.js", "signal 9", &"-".repeat(200), "é…"]
    {
        assert_eq!(scrubbed(words), words);
    }
}
