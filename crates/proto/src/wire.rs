//! Names as MCP clients and LLM APIs accept them: `[A-Za-z0-9_-]`, short enough for every known client.
//!
//! A wire name is never split to find its tool: the catalog looks it up in a stored map.

use crate::{ToolId, digest};

/// Cursor limits server and tool name together to 60 characters; 50 leaves space for the gateway's own name.
pub const MAX_LEN: usize = 50;

const HASH_LEN: usize = 8;

/// The preferred wire name of a tool; `older_major` is set for all but the newest major.
pub fn preferred(id: &ToolId, older_major: Option<u64>) -> String {
    let name = readable(id, older_major);
    if name.len() <= MAX_LEN { name } else { hashed(id, older_major) }
}

/// The wire name of a server's tool without its server; `None` if that is too long or empty.
pub fn unprefixed(id: &ToolId, older_major: Option<u64>) -> Option<String> {
    let (_, tool) = id.as_str().split_once(':')?;
    let name = cleaned(tool) + &version_suffix(older_major);
    (!tool.is_empty() && name.len() <= MAX_LEN).then_some(name)
}

/// The name a tool gets when its preferred one is too long or already taken.
pub fn hashed(id: &ToolId, older_major: Option<u64>) -> String {
    let suffix = version_suffix(older_major);
    let hash = digest(id.as_str().as_bytes()).to_string();
    let room = MAX_LEN - HASH_LEN - 1 - suffix.len();
    let mut name = readable(id, None);
    name.truncate(room);
    format!("{name}_{}{suffix}", &hash[..HASH_LEN])
}

fn readable(id: &ToolId, older_major: Option<u64>) -> String {
    cleaned(id.as_str()) + &version_suffix(older_major)
}

fn cleaned(text: &str) -> String {
    let mut name = String::with_capacity(text.len() + 4);
    for character in text.chars() {
        match character {
            ':' => name.push_str("__"),
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') => name.push(c),
            _ => name.push('_'),
        }
    }
    name
}

fn version_suffix(older_major: Option<u64>) -> String {
    older_major.map(|major| format!("_v{major}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::*;

    fn id(text: &str) -> ToolId {
        text.parse().expect("an id")
    }

    #[test]
    fn names_omit_the_server_where_possible() {
        assert_eq!(unprefixed(&id("a:read.file"), None).as_deref(), Some("read_file"));
        assert_eq!(unprefixed(&id("a:b"), Some(1)).as_deref(), Some("b_v1"));
        assert_eq!(unprefixed(&id(&format!("a:{}", "x".repeat(51))), None), None);
        assert_eq!(unprefixed(&id("web.search.query"), None), None);
    }

    #[test]
    fn readable_where_possible() {
        assert_eq!(
            preferred(&id("doc-parser-mcp:extract_text"), None),
            "doc-parser-mcp__extract_text"
        );
        assert_eq!(preferred(&id("web.search.query"), None), "web_search_query");
        assert_eq!(preferred(&id("web.search.query"), Some(1)), "web_search_query_v1");
    }

    #[test]
    fn long_names_are_cut_and_stay_distinct() {
        let a = preferred(&id(&format!("server:{}a", "x".repeat(80))), None);
        let b = preferred(&id(&format!("server:{}b", "x".repeat(80))), None);
        assert_eq!(a.len(), MAX_LEN);
        assert_ne!(a, b);
    }

    proptest! {
        #[test]
        fn every_name_is_accepted_by_clients(
            server in "[a-z][a-z0-9-]{0,60}",
            tool in "[!-9;-?A-~]{1,90}",
            major in prop::option::of(0_u64..u64::MAX),
        ) {
            let id = id(&format!("{server}:{tool}"));
            for name in [preferred(&id, major), hashed(&id, major)] {
                assert!((1..=MAX_LEN).contains(&name.len()), "{name}");
                assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{name}");
            }
        }
    }
}
