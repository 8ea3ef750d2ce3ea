use schema::yaml::YamlError;

/// A problem in one file, with the line if it is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(line: Option<usize>, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl From<YamlError> for Fault {
    fn from(error: YamlError) -> Self {
        Self { line: error.line, message: error.message }
    }
}
