//! Words that begin a step of a request.

/// Verbs by which people ask for something, sorted.
const VERBS: [&str; 140] = [
    "add",
    "analyse",
    "analyze",
    "append",
    "apply",
    "arrange",
    "ask",
    "assign",
    "attach",
    "book",
    "build",
    "buy",
    "calculate",
    "call",
    "cancel",
    "check",
    "classify",
    "clean",
    "close",
    "collect",
    "compare",
    "compress",
    "compute",
    "convert",
    "copy",
    "count",
    "create",
    "decode",
    "decrypt",
    "delete",
    "deploy",
    "describe",
    "detect",
    "determine",
    "display",
    "download",
    "draft",
    "email",
    "encode",
    "encrypt",
    "estimate",
    "evaluate",
    "execute",
    "explain",
    "export",
    "extract",
    "fetch",
    "filter",
    "find",
    "fix",
    "format",
    "forward",
    "generate",
    "get",
    "give",
    "identify",
    "import",
    "insert",
    "inspect",
    "install",
    "invite",
    "know",
    "launch",
    "lint",
    "list",
    "load",
    "locate",
    "look",
    "lookup",
    "make",
    "merge",
    "monitor",
    "move",
    "notify",
    "open",
    "order",
    "parse",
    "pay",
    "play",
    "plot",
    "post",
    "predict",
    "prepare",
    "print",
    "provide",
    "publish",
    "purchase",
    "query",
    "rank",
    "read",
    "recommend",
    "record",
    "register",
    "remind",
    "remove",
    "rename",
    "rent",
    "repeat",
    "replace",
    "reply",
    "report",
    "request",
    "reserve",
    "resize",
    "resolve",
    "retrieve",
    "rotate",
    "run",
    "save",
    "scan",
    "schedule",
    "scrape",
    "search",
    "see",
    "send",
    "set",
    "share",
    "show",
    "sort",
    "start",
    "stop",
    "store",
    "submit",
    "subscribe",
    "suggest",
    "summarise",
    "summarize",
    "tell",
    "text",
    "transcribe",
    "translate",
    "update",
    "upload",
    "use",
    "validate",
    "verify",
    "view",
    "visualize",
    "watch",
    "write",
];

/// Those that are often nouns (`title and text`), sorted.
const ALSO_NOUNS: [&str; 62] = [
    "apply", "ask", "assign", "book", "call", "check", "clean", "close", "copy", "count",
    "display", "draft", "email", "estimate", "export", "filter", "format", "forward", "import",
    "invite", "launch", "lint", "list", "load", "look", "make", "monitor", "move", "open", "order",
    "pay", "play", "plot", "post", "print", "query", "rank", "read", "record", "register", "rent",
    "repeat", "reply", "report", "request", "run", "save", "scan", "schedule", "search", "see",
    "set", "share", "show", "sort", "start", "stop", "store", "text", "use", "view", "watch",
];

/// Words that follow a verb, but hardly a noun, sorted.
const FOLLOW: [&str; 24] = [
    "a", "all", "an", "any", "each", "every", "for", "her", "his", "it", "me", "my", "our", "that",
    "the", "their", "them", "these", "this", "those", "to", "up", "us", "your",
];

/// Whether a word in lower case can ask for something to be done.
pub fn is_verb(word: &str) -> bool {
    VERBS.binary_search(&word).is_ok()
}

/// Whether a word follows a verb, but hardly a noun: `the`, `it`, `for`.
pub fn follows_verb(word: &str) -> bool {
    FOLLOW.binary_search(&word).is_ok()
}

/// Whether a word asks for something to be done, before this next word.
pub fn begins_action(word: &str, next: Option<&str>) -> bool {
    is_verb(word) && (ALSO_NOUNS.binary_search(&word).is_err() || next.is_some_and(follows_verb))
}

#[cfg(test)]
mod tests {
    use super::{ALSO_NOUNS, FOLLOW, VERBS, begins_action};

    #[test]
    fn the_lists_can_be_searched() {
        assert!(VERBS.is_sorted() && ALSO_NOUNS.is_sorted() && FOLLOW.is_sorted());
        assert!(begins_action("encrypt", None) && begins_action("book", Some("a")));
        assert!(!begins_action("email", None) && !begins_action("text", Some("message")));
    }
}
