use proptest::prelude::{any, proptest};

use super::*;

fn allowed(robots: &str, path: &str) -> bool {
    Rules::parse(robots.as_bytes()).allows(path)
}

#[test]
fn our_group_is_chosen_before_the_one_for_all() {
    let robots = "User-agent: *\nDisallow: /\n\nUser-Agent: other\nuser-agent: PowerStrip/1.0\nAllow: /\nDisallow: /private # all of it\n";
    assert!(allowed(robots, "/page"));
    assert!(!allowed(robots, "/private/page"));
    assert!(!allowed("User-agent: *\nDisallow: /", "/page"));
    assert!(allowed("User-agent: powerstripper\nDisallow: /", "/page"));
    // A group that names us and has no rules allows all.
    assert!(allowed("User-agent: *\nDisallow: /\n\nUser-agent: powerstrip\nDisallow:\n", "/page"));
    // Groups with the same name are one.
    let two = "User-agent: powerstrip\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: powerstrip\nDisallow: /b";
    assert!(!allowed(two, "/a") && !allowed(two, "/b") && allowed(two, "/c"));
}

#[test]
fn the_longest_rule_decides_and_allow_wins_a_tie() {
    let robots =
        "user-agent: *\ndisallow: /a\nallow: /a/b\ndisallow: /a/b/c\nallow: /tie\ndisallow: /tie";
    for (path, expected) in
        [("/a", false), ("/a/b", true), ("/a/b/c", false), ("/tie", true), ("/", true)]
    {
        assert_eq!(allowed(robots, path), expected, "{path}");
    }
}

#[test]
fn wildcards_and_ends_are_understood() {
    for (pattern, path, matches) in [
        ("/*.php", "/index.php", true),
        ("/*.php$", "/index.php?x=1", false),
        ("/*.php$", "/a/index.php", true),
        ("/fish*", "/fisherman", true),
        ("/*/x/*/y", "/a/x/b/c/y/z", true),
        ("/*/x/*/y", "/a/y/b/x", false),
        ("/$", "/", true),
        ("/$", "/a", false),
        ("/a*a$", "/a", false),
        ("/caf%C3%A9", "/café", true),
        ("/café", "/caf%c3%a9", true),
        ("/%7Euser", "/~user", true),
        ("/a%2Fb", "/a/b", false),
    ] {
        let robots = format!("User-agent: *\nDisallow: {pattern}");
        assert_eq!(!allowed(&robots, path), matches, "{pattern} {path}");
    }
}

#[test]
fn odd_files_are_read_as_far_as_they_go() {
    assert!(allowed("", "/x") && allowed("<html>Not found</html>", "/x"));
    assert!(allowed("Disallow: /", "/x"), "a rule before any group is of none");
    assert!(!allowed("\u{feff}User-agent: *\rDisallow: /x\r\nSitemap: /s", "/x"));
    assert!(allowed("User-agent: *\nDisallow: /", "/robots.txt"));
    assert!(!Rules::unavailable(503).allows("/x"));
    let tail = format!("User-agent: *\n{}Disallow: /x", "#".repeat(MOST_BYTES));
    assert!(allowed(&tail, "/x"));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(body in any::<Vec<u8>>(), path in "/.{0,30}") {
        Rules::parse(&body).allows(&path);
    }

    #[test]
    fn rules_of_any_shape_are_matched_without_a_panic(pattern in "[/*$%a-c]{0,20}", path in "/[%a-c/]{0,20}") {
        Rules::parse(format!("user-agent: *\ndisallow: {pattern}").as_bytes()).allows(&path);
    }
}
