//! The servers behind the gateway: the list, a page for each, and switches for operators. No page adds or changes the
//! command of a server.

mod change;
mod list;
mod show;
mod state;

pub(super) use change::change;
pub(super) use list::{page, rows};
pub(super) use show::page as one;
