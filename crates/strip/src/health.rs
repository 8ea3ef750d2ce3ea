use std::time::Duration;

/// Whether the strip can do its work.
#[derive(Clone, Debug)]
pub struct Health {
    pub ready: bool,
    pub problems: Vec<String>,
    pub uptime: Duration,
}
