//! Re-exports of one of our crates by another: they let a third crate use the first one without an arrow to it.

use crate::imports::{Token, lex};

/// A crate that exports items of others on purpose, these others, and the reason.
pub(crate) const ALLOWED: &[(&str, &[&str], &str)] = &[
    (
        "documents",
        &["extraction", "pdf"],
        "the readers of formats are parts of this crate's interface",
    ),
    ("kit", &["documents", "proto", "reading"], "capability servers are written with `kit` alone"),
    (
        "auth",
        &["operations"],
        "one list of scopes: those of operations, and those that only `auth` checks",
    ),
    ("files", &["store"], "`doors` and `dashboard` show rows, but must not know SQL"),
    ("approvals", &["store"], "`doors` and `dashboard` show rows, but must not know SQL"),
    ("runs", &["store"], "`dashboard` filters runs, but must not know SQL"),
];

/// The crates of `ours` whose items a source file exports to other crates.
pub(crate) fn reexported<'a>(code: &str, ours: &[&'a str]) -> Vec<&'a str> {
    let tokens = lex(code);
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    // A module of the file hides a crate of the same name, unless the path begins with `::`.
    let is_module =
        |name: &str| (0..tokens.len()).any(|at| word(at) == "mod" && word(at + 1) == name);
    let exports = (0..tokens.len()).filter(|at| word(*at) == "pub" && word(at + 1) == "use");
    let crates = exports.filter_map(|at| {
        let absolute = tokens.get(at + 2) == Some(&Token::Separator);
        let name = word(at + 2 + usize::from(absolute));
        (absolute || !is_module(name)).then_some(name)
    });
    let known = crates
        .filter_map(|name| ours.iter().find(|known| known.replace('-', "_") == name).copied());
    known.collect()
}

#[test]
fn only_crates_that_other_crates_see_are_found() {
    let code = r#"
        mod files;
        pub use files::{Listing, Upload};
        pub use ::files::FileRecord;
        pub use server_entry::Server as Entry;
        pub use self::store::Rows;
        pub use serde::Serialize;
        pub(crate) use runs::Run;
        // pub use proto::Code;
        use proto::Failure;
    "#;
    let ours = ["files", "server-entry", "store", "runs", "proto"];
    assert_eq!(reexported(code, &ours), ["files", "server-entry"]);
}
