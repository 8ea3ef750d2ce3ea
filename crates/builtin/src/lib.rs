//! The gateway's own tools: a few that need nothing installed and double as examples, those that find other tools, those
//! that steer a run, and the one that reads stored results.

pub mod control;
mod echo;
pub mod finder;
mod owner;
pub mod results;
mod select;
mod stats;
mod time;

use std::sync::Arc;

use proto::Clock;
use strip::Tool;
use strip::typed::typed;

/// The catalog's source name of these tools.
pub const SOURCE: &str = "built-in";

/// All built-in tools.
pub fn tools(clock: Clock) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(echo::Echo::default()),
        Arc::new(select::Select::default()),
        typed(stats::Stats),
        typed(time::Now { clock }),
    ]
}

#[cfg(test)]
mod tests;
