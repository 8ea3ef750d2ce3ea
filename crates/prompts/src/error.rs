use proto::{Blame, Code, Failure};
use schema::Violation;
use serde_json::{Value, json};

/// Violations that a message lists; the details hold all of them.
const LISTED_VIOLATIONS: usize = 5;

/// Why a prompt was not found or not rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    #[error("there is no prompt `{prompt}`{}", hint(nearest))]
    Unknown { prompt: String, nearest: Vec<String> },
    #[error("`{prompt}` has no major {major}; it is served in {}", list(served))]
    UnknownMajor { prompt: String, major: u64, served: Vec<u64> },
    #[error("the arguments have {size} bytes; {limit} are allowed")]
    ArgumentsTooLarge { size: usize, limit: usize },
    #[error("the arguments do not fit the prompt: {}", summarize(.0))]
    InvalidArguments(Vec<Violation>),
    #[error("the rendered prompt has {size} characters; its spec allows {limit}")]
    TooLong { size: usize, limit: usize },
    /// The template itself failed; `limit` is set if its text grew past what any prompt may have.
    #[error("`{prompt}` cannot be rendered{}: {message}", at(*line))]
    Template { prompt: String, line: Option<usize>, message: String, limit: Option<usize> },
}

impl PromptError {
    pub fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } | Self::UnknownMajor { .. } => Code::NotFound,
            Self::ArgumentsTooLarge { .. } | Self::InvalidArguments(_) | Self::TooLong { .. } => {
                Code::InvalidInput
            }
            Self::Template { .. } => Code::Internal,
        }
    }

    pub fn blame(&self) -> Blame {
        match self {
            Self::Template { .. } => Blame::Tool,
            _ => self.code().blame(),
        }
    }

    /// Facts that a program may read, such as a size and its limit.
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::Unknown { prompt, nearest } => {
                Some(json!({"prompt": prompt, "nearest": nearest}))
            }
            Self::UnknownMajor { prompt, served, .. } => {
                Some(json!({"prompt": prompt, "majors": served}))
            }
            Self::ArgumentsTooLarge { size, limit } | Self::TooLong { size, limit } => {
                Some(json!({"size": size, "limit": limit}))
            }
            Self::InvalidArguments(violations) => Some(json!({"violations": violations})),
            Self::Template { limit, .. } => limit.map(|limit| json!({"limit": limit})),
        }
    }
}

impl From<PromptError> for Failure {
    fn from(error: PromptError) -> Self {
        Self {
            details: error.details(),
            ..Self::new(error.code(), error.to_string()).blame(error.blame())
        }
    }
}

fn hint(nearest: &[String]) -> String {
    match nearest.first() {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => "; `GET /mcp/discover` or `powerstrip prompts` lists what there is".to_owned(),
    }
}

fn list(majors: &[u64]) -> String {
    majors.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn summarize(violations: &[Violation]) -> String {
    let listed: Vec<_> = violations
        .iter()
        .take(LISTED_VIOLATIONS)
        .map(|violation| match violation.path.as_str() {
            "" => violation.message.clone(),
            path => format!("{path}: {}", violation.message),
        })
        .collect();
    let more = match violations.len().saturating_sub(listed.len()) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", listed.join("; "))
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}
