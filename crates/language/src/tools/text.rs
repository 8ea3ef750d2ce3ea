/// The searchable text of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolText<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// Its title, if any.
    pub title: &'a str,
    /// Its description.
    pub description: &'a str,
    /// The name and the description of each parameter.
    pub parameters: &'a [(&'a str, &'a str)],
}
