//! Names of several words, such as `dpkg-deb`, `SO_REUSEADDR`, `fs.readFileSync`, `MPL-1.1` and `std::fs`. The index has only
//! their words.

/// The most names of a query that count.
const MAX_NAMES: usize = 16;

/// The names of a query, in lower case.
pub(super) fn names(query: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let words = query.split(|c: char| !(c.is_alphanumeric() || is_joint(c) || c == ':'));
    for word in words {
        let name = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if (name.contains(is_joint) || name.contains("::")) && !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(MAX_NAMES);
    names
}

fn is_joint(c: char) -> bool {
    matches!(c, '-' | '.' | '_' | '/')
}

/// Whether a text in lower case has a name itself: `delete-bucket` is no part of `delete-bucket-policy`.
pub(super) fn has(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !goes_on(before.chars().rev()) && !goes_on(after.chars())
    })
}

/// Whether a name does not end where these characters begin.
fn goes_on(mut next: impl Iterator<Item = char>) -> bool {
    match (next.next(), next.next()) {
        (Some(c), _) if c.is_alphanumeric() => true,
        (Some('-' | '_'), Some(c)) => c.is_alphanumeric(),
        // `1.1` is no part of `1.1.2`.
        (Some('.'), Some(c)) => c.is_numeric(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_has_an_inner_joint() {
        let query = "`dpkg-deb --build`, SO_REUSEADDR (fs.readFileSync): MPL-1.1 std::fs and/or a:b --max-old MPL-1.1. end.";
        assert_eq!(
            names(query),
            [
                "dpkg-deb",
                "so_reuseaddr",
                "fs.readfilesync",
                "mpl-1.1",
                "std::fs",
                "and/or",
                "max-old"
            ]
        );
        assert_eq!(names("cool roofs, -x- ... --"), [""; 0]);
    }

    #[test]
    fn a_longer_name_is_another_name() {
        for text in
            ["delete-bucket", "run delete-bucket.", "(--delete-bucket=1)", "s3/delete-bucket"]
        {
            assert!(has(text, "delete-bucket"), "{text}");
        }
        for text in ["delete-bucket-policy", "undelete-bucket", "no-delete-bucket", "delete bucket"]
        {
            assert!(!has(text, "delete-bucket"), "{text}");
        }
        assert!(has("mpl-1.1/gpl-2.0", "mpl-1.1") && has("mpl-1.1.txt", "mpl-1.1"));
        assert!(!has("mpl-1.1.2", "mpl-1.1") && !has("mpl-1.10", "mpl-1.1"));
        assert!(has("delete-bucket-policy and delete-bucket", "delete-bucket"));
    }

    proptest! {
        #[test]
        fn any_name_is_in_its_own_query(query in ".{0,200}") {
            for name in names(&query) {
                prop_assert!(query.to_lowercase().contains(&name));
                prop_assert!(has(&name, &name));
            }
        }
    }
}
