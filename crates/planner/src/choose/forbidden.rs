//! Tools that do what the request forbids: `write a mail to Ann, but do not send it` is nothing for a tool that sends.

use language::words::{is_stop_word, related_stems, stem, words};

use super::Choosing;
use crate::steps::Step;
use crate::tool::ToolSpec;

/// Words of a prohibition that name nothing: it is about all that the request is about.
const GENERAL: [&str; 13] = [
    "anything",
    "everything",
    "something",
    "nothing",
    "any",
    "all",
    "anyone",
    "nobody",
    "never",
    "yet",
    "way",
    "nichts",
    "alles",
];
/// Words before what is forbidden: `please make sure that you never`.
const LEADS: [&str; 24] = [
    "please",
    "make",
    "made",
    "sure",
    "ensure",
    "certain",
    "careful",
    "avoid",
    "refrain",
    "try",
    "want",
    "need",
    "important",
    "circumstances",
    "instead",
    "rather",
    "without",
    "not",
    "don",
    "dont",
    "mustn",
    "shouldn",
    "needn",
    "doesn",
];
/// Words that make a prohibition one about something else than what is asked for: `do not send it twice`.
const LIMITS: [&str; 13] = [
    "again", "also", "another", "before", "else", "except", "more", "once", "other", "others",
    "twice", "unless", "until",
];
/// Verbs for changes of any kind.
const CHANGES: [&str; 6] = ["alter", "change", "edit", "modify", "touch", "write"];

impl Choosing<'_> {
    /// Whether the request forbids what a tool does, whatever it is called with.
    pub(super) fn is_forbidden(&self, tool: usize) -> bool {
        let spec = self.tool(tool);
        self.scene.forbidden.iter().any(|part| forbids(part, spec))
    }
}

/// Whether a part of a request forbids all that a tool does. One that names something, such as a file, is about that only.
fn forbids(part: &Step, tool: &ToolSpec) -> bool {
    let all = words(&part.query);
    if all.iter().any(|word| LIMITS.contains(&word.as_str())) {
        return false;
    }
    let is_frame = |word: &str| {
        is_stop_word(word) || GENERAL.contains(&word) || LEADS.contains(&word) || word.len() < 3
    };
    let mut named = all.iter().filter(|word| !is_frame(word));
    let (Some(verb), None) = (named.next(), named.next()) else { return false };
    let verb = stem(verb);
    let does = |stem: &String| *tool.action == **stem;
    let is_change = || CHANGES.iter().any(|word| stem(word) == verb);
    tool.verb_stems.contains(&verb)
        || tool.changes && (is_change() || related_stems(&verb).iter().any(does))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::forbids;
    use crate::steps::Step;
    use crate::tool::ToolSpec;

    #[test]
    fn a_prohibition_without_an_object_excludes_the_tools_that_do_it() {
        let tool = |id: &str| ToolSpec::new(id, "", "", &json!({}), None);
        for (part, id, expected) in [
            ("do not send it", "mail:send_message", true),
            ("never send anything", "mail:send_message", true),
            ("without sending it", "mail:send_message", true),
            ("please make sure that you never delete anything", "fs:delete_file", true),
            ("do not delete anything", "fs:remove_file", true),
            ("do not change anything", "fs:move_file", true),
            ("do not send it", "mail:draft_message", false),
            ("do not send it to Bob", "mail:send_message", false),
            ("do not send it twice", "mail:send_message", false),
            ("do not read b.txt", "fs:read_file", false),
            ("but not Bob", "fs:delete_file", false),
            ("do not change anything", "fs:read_file", false),
        ] {
            let step = Step::new(part, &[(0, part.len())], &[]);
            assert_eq!(forbids(&step, &tool(id)), expected, "{part}: {id}");
        }
    }
}
