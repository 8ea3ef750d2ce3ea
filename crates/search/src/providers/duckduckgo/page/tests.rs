use super::*;

const PAGE: &str = r#"
<div class="result results_links result--ad"><h2><a class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dx.com">Buy now</a></h2>
 <a class="result__snippet" href="x">An ad</a></div>
<div class='result'><h2 class="result__title"><a rel="nofollow" class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.rust%2Dlang.org%2F%3Fa%3D1%26b%3D2&amp;rut=abc">The <b>Rust</b> &amp; co &gt; all</a></h2>
<a class="result__snippet" href="//duckduckgo.com/l/?x">A language <b>empowering</b> everyone &#x27;here&#x27;.</a></div>
<div class=result><A CLASS=result__a HREF=https://example.org/plain>Plain</A>
<td class="result__snippet">In a cell</td></div>"#;

#[test]
fn results_are_read_without_advertisements() {
    let hits = results(PAGE);
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0].title, "The Rust & co > all");
    assert_eq!(hits[0].url, "https://www.rust-lang.org/?a=1&b=2");
    assert_eq!(hits[0].snippet, "A language empowering everyone 'here'.");
    assert_eq!(hits[1].url, "https://example.org/plain");
    assert_eq!(hits[1].snippet, "In a cell");
}

#[test]
fn cut_pages_give_what_is_there() {
    for end in 0..PAGE.len() {
        assert!(results(&PAGE[..end]).len() <= 2);
    }
}

proptest::proptest! {
    #[test]
    fn no_page_panics(page in "(<a class=\"result__a\" href=|[<>\"'= a-z/&;é]|//duckduckgo.com/l/\\?uddg=){0,60}") {
        results(&page);
    }
}
