use super::*;

#[test]
fn globs() {
    for (pattern, name, expected) in [
        ("read_*", "read_file", true),
        ("read_*", "read_", true),
        ("read_*", "unread_file", false),
        ("*", "", true),
        ("", "", true),
        ("", "a", false),
        ("*_*_*", "a_b", false),
        ("*_*_*", "a_b_c", true),
        ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("*b", "abab", true),
        ("é*", "éa", true),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
    let hostile = "*a".repeat(50) + "b";
    assert!(!matches(&hostile, &"a".repeat(2_000)));
}

#[test]
fn except_is_stronger_than_only() {
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let config = ServerConfig {
        only: list(&["read_*", "stat"]),
        except: list(&["*_secret"]),
        rename: [("stat".to_owned(), "status".to_owned())].into(),
        ..ServerConfig::default()
    };
    let selection = Selection(&config);
    assert!(selection.admits("read_file") && selection.admits("stat"));
    assert!(!selection.admits("read_secret") && !selection.admits("write_file"));
    assert_eq!(selection.offered("stat"), "status");
    assert_eq!(selection.offered("read_file"), "read_file");
}
