use std::fmt::{self, Write as _};

/// A place in a task, rendered as a JSON Pointer only for an error or a template: a text for each part of a large value would take
/// time and memory by the length of its keys times the number of its parts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pointer<'a> {
    Start(&'a str),
    Field(&'a Pointer<'a>, &'a str),
    Item(&'a Pointer<'a>, usize),
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(pointer) => f.write_str(pointer),
            Self::Item(list, at) => write!(f, "{list}/{at}"),
            Self::Field(object, name) => {
                write!(f, "{object}/")?;
                name.chars().try_for_each(|character| match character {
                    '~' => f.write_str("~0"),
                    '/' => f.write_str("~1"),
                    other => f.write_char(other),
                })
            }
        }
    }
}
