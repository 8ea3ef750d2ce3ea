use super::*;

#[test]
fn addresses_of_one_page_are_one_result() {
    let hit = |url: &str, snippet: &str| Hit {
        url: url.to_owned(),
        snippet: snippet.to_owned(),
        ..Hit::default()
    };
    let hits = fuse_hits(vec![
        vec![hit("https://www.a.org/?utm_source=x", ""), hit("javascript:x", "")],
        vec![hit("https://b.org/", "b"), hit("https://a.org/#top", "a")],
    ]);
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0], hit("https://www.a.org/?utm_source=x", "a"));
}
