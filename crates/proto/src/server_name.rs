//! Names that servers cannot have: those of the gateway, and names that people could mistake for another server's.

/// The gateway's own name in tool ids.
pub const OWN_SERVER: &str = "powerstrip";

/// Another name of the gateway's own tools, used by clients written for the system that defined the workflow tools.
pub const OWN_SERVER_ALIAS: &str = "agentcards";

/// The server name in the ids of the built-in web tools. Only an entry in the config file replaces them.
pub const WEB_RESEARCH: &str = "web-research";

/// Every name that belongs to the gateway. `mcp.tool` and `mcp.prompt` are schemes of references.
const RESERVED: [&str; 8] = [
    OWN_SERVER,
    OWN_SERVER_ALIAS,
    WEB_RESEARCH,
    "mcp",
    "mcp.tool",
    "mcp.prompt",
    "built-in",
    "toolpacks",
];

/// Why a server cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedServerName {
    #[error("`{0}` is reserved for the gateway; choose another name")]
    Reserved(String),
    #[error(
        "`{name}` looks like `{reserved}`, which is reserved for the gateway; choose another name"
    )]
    LooksReserved { name: String, reserved: &'static str },
    #[error("`{name}` looks like the name of server `{other}`; choose another name")]
    LooksLike { name: String, other: String },
}

/// Refuses the gateway's own names, and names that look like one of them.
pub fn check_server_name(name: &str) -> Result<(), RefusedServerName> {
    let key = without_separators(name);
    match RESERVED.into_iter().find(|reserved| without_separators(reserved) == key) {
        None => Ok(()),
        Some(reserved) if reserved == name => Err(RefusedServerName::Reserved(name.to_owned())),
        Some(reserved) => Err(RefusedServerName::LooksReserved { name: name.to_owned(), reserved }),
    }
}

/// Refuses a name that looks like that of another server. The same name is no look-alike.
pub fn check_look_alike<'a>(
    name: &str,
    others: impl IntoIterator<Item = &'a str>,
) -> Result<(), RefusedServerName> {
    let key = look(name);
    match others.into_iter().find(|other| *other != name && look(other) == key) {
        None => Ok(()),
        Some(other) => {
            Err(RefusedServerName::LooksLike { name: name.to_owned(), other: other.to_owned() })
        }
    }
}

/// A key that names share if people could mistake one for the other: separators count only between words. Names are ASCII, so that characters of other scripts
/// need no entry.
fn look(name: &str) -> String {
    let letter = |c: char| match c.to_ascii_lowercase() {
        '0' => 'o',
        '1' | 'i' => 'l',
        '_' | '.' => '-',
        other => other,
    };
    let folded: String = name.chars().map(letter).collect();
    let text = folded.replace("rn", "m").replace("vv", "w");
    text.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The look of a name without separators: `power-strip` is not a name for a server of another vendor.
fn without_separators(name: &str) -> String {
    look(&name.replace(['-', '_', '.'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_gateway_and_their_look_alikes_are_refused() {
        for name in RESERVED {
            assert_eq!(check_server_name(name), Err(RefusedServerName::Reserved(name.to_owned())));
        }
        let alike = [
            "Powerstrip",
            "POWERSTRIP",
            "power-strip",
            "power_strip",
            "p0werstrip",
            "powerstr1p",
            "powerstrlp",
            "povverstrip",
            "AgentCards",
            "agent-cards",
            "web_research",
            "webresearch",
            "Web-Research",
            "MCP",
            "mcp_tool",
            "builtin",
            "tool-packs",
        ];
        for name in alike {
            let refused = check_server_name(name);
            assert!(matches!(refused, Err(RefusedServerName::LooksReserved { .. })), "{name}");
        }
        for name in ["good", "powerstrips", "my-powerstrip", "mcp-server", "web", "research"] {
            assert_eq!(check_server_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn look_alikes_of_other_servers_are_refused() {
        for (name, other) in [
            ("GOOD", "good"),
            ("g00d", "good"),
            ("my_crm", "my-crm"),
            ("my.crm", "my-crm"),
            ("rnail", "mail"),
            ("vveb", "web"),
            ("db1", "dbl"),
            ("good_", "good"),
            ("-good", "good"),
            ("my__crm", "my-crm"),
            ("my-.crm", "my_crm"),
            ("Icons", "lcons"),
        ] {
            assert!(check_look_alike(name, [other]).is_err(), "{name} {other}");
            assert!(check_look_alike(other, [name]).is_err(), "{other} {name}");
        }
        assert_eq!(check_look_alike("good", ["good", "better", "go-od", "good2"]), Ok(()));
    }
}
