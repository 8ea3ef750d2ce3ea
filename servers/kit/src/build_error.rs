/// Why a server's description is invalid: a mistake of its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("`{0}` is no tool name: use 1 to 64 of A-Z a-z 0-9 _ -")]
    ToolName(String),
    #[error("the schema of tool `{tool}` cannot be used: {reason}")]
    Schema { tool: String, reason: String },
    #[error("tool `{0}` has `file_args` but no `file_strategy`")]
    FileArgs(String),
    #[error("`{0}` is no URI template with named variables")]
    UriTemplate(String),
    #[error("{kind} `{name}` is described twice")]
    Duplicate { kind: &'static str, name: String },
    #[error("the folder `{folder}` of --keep cannot be used: {reason}")]
    Folder { folder: String, reason: String },
    #[error("{0}")]
    Flag(String),
    #[error("jobs need storage for their results: call `Server::stores` too")]
    JobsWithoutStorage,
}
