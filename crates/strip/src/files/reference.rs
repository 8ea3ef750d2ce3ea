use proto::FileId;

/// A part of an answer that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub id: FileId,
    pub name: String,
    pub media_type: String,
    pub size: u64,
}

impl Reference {
    /// The URI by which MCP clients read it.
    pub fn uri(&self) -> String {
        format!("powerstrip://files/{}", self.id)
    }
}
