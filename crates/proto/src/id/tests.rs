use proptest::prelude::{any, proptest};

use super::{InvalidId, PromptRef, ToolId, ToolRef};

fn tool(text: &str) -> Result<ToolId, InvalidId> {
    text.parse()
}

#[test]
fn ids_of_both_forms() {
    let of_server = tool("resume-profile-mcp:parse_document").expect("an id");
    assert_eq!(of_server.server(), Some("resume-profile-mcp"));
    assert_eq!(of_server.name(), "parse_document");
    let of_strip = tool("web.search.query").expect("an id");
    assert_eq!(of_strip.server(), None);
    assert_eq!(of_strip.name(), "web.search.query");
}

#[test]
fn bad_ids_are_refused() {
    for text in [
        "",
        ":",
        "a:",
        ":b",
        "a..b",
        ".a",
        "a b",
        "a/b",
        "sérver:x",
        "a:b c",
        "a:b@c",
        "x\u{202e}y",
    ] {
        assert!(tool(text).is_err(), "{text:?}");
    }
    assert!(matches!(tool("a__b:c"), Err(InvalidId::DoubleUnderscore(_))));
    assert!(tool(&"x".repeat(129)).is_err());
}

#[test]
fn majors_are_pinned_by_at() {
    let pinned: ToolRef = "web.search.query@2".parse().expect("a reference");
    assert_eq!((pinned.id.as_str(), pinned.major), ("web.search.query", Some(2)));
    assert_eq!(pinned.to_string(), "web.search.query@2");
    for text in ["web.search@", "web.search@x", "web.search@-1", "a@1@2"] {
        assert!(text.parse::<ToolRef>().is_err(), "{text}");
    }
}

#[test]
fn short_uris_resolve() {
    for (short, full) in [
        ("mcp.tool:web.search", "web.search.query"),
        ("mcp.tool:docs.load", "docs.load.fetch"),
        ("mcp.tool:vector.query", "vector.query.search"),
        ("mcp.tool:citations.audit", "citations.audit.check"),
        ("mcp.tool:exports.render", "exports.render.markdown"),
        ("mcp.tool:demo.echo", "demo.echo"),
        ("mcp.tool:web.search@1", "web.search.query@1"),
    ] {
        let resolved: ToolRef = short.parse().expect("a reference");
        assert_eq!(resolved.to_string(), full);
    }
    // Without the scheme the short form is an id of its own.
    assert_eq!("web.search".parse::<ToolRef>().expect("an id").to_string(), "web.search");
}

#[test]
fn prompt_references() {
    let prompt: PromptRef = "mcp.prompt:research/outline@2".parse().expect("a prompt");
    assert_eq!(
        (prompt.domain.as_str(), prompt.name.as_str(), prompt.major),
        ("research", "outline", Some(2))
    );
    for text in ["outline", "a/b@", "a/b@x", "../x@1", "a//b@1", "a/b/c@1", "/b@1"] {
        assert!(text.parse::<PromptRef>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn parsing_never_panics_and_round_trips(text in any::<String>()) {
        if let Ok(reference) = text.parse::<ToolRef>() {
            assert_eq!(reference.to_string().parse::<ToolRef>(), Ok(reference));
        }
        let _ = text.parse::<PromptRef>();
    }
}
