//! The web research tools as built-in tools of the gateway: their settings from the config, and their calls on the strip.

mod current;
mod settings;
mod tool;
mod web_tools;

pub use settings::settings;
pub use web_tools::{Parts, SOURCE, WebTools};
