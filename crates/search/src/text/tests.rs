use super::*;

#[test]
fn markup_becomes_plain_text() {
    assert_eq!(
        plain("The <b>Rust</b> book &amp; more\n  &#x27;x&#39;"),
        "The Rust book & more 'x'"
    );
    assert_eq!(plain("<jats:p>One.</jats:p><jats:p>Two.</jats:p>"), "One. Two.");
    assert_eq!(plain("Vec&lt;T&gt; and a < b"), "Vec<T> and a < b");
    assert_eq!(plain("&bogus; &#xffffffff; &"), "&bogus; &#xffffffff; &");
}

#[test]
fn plain_text_keeps_its_signs() {
    assert_eq!(tidy(" Vec<T>\u{200b} &amp;\t x "), "Vec<T> &amp; x");
    assert!(tidy(&"ä".repeat(100_000)).len() <= MAX_BYTES);
}
