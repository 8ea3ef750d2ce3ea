//! Built-in tools. They need nothing installed and double as examples.

mod echo;
mod select;
mod stats;
mod time;

use std::sync::Arc;

use proto::Clock;
use strip::Tool;
use strip::typed::typed;

/// The catalog's source name of these tools.
pub(crate) const SOURCE: &str = "built-in";

/// All built-in tools.
pub(crate) fn tools(clock: Clock) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(echo::Echo::default()),
        Arc::new(select::Select::default()),
        typed(stats::Stats),
        typed(time::Now { clock }),
    ]
}

#[cfg(test)]
mod tests;
