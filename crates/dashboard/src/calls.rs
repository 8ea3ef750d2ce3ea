//! Calls that have ended: the list with its filters, and the calls of one trace with what is known about failures.

mod list;
mod log;
mod query;
mod show;
mod table;

pub(super) use list::page;
pub(super) use show::{page as trace, stored_input};
pub(super) use table::{Shown, table};
