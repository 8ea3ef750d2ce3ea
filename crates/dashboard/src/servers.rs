//! The servers behind the gateway: the list, a page for each, and for operators switches and a form to add one.

mod add;
mod change;
mod drafts;
mod list;
mod review;
mod show;
mod state;

pub(super) use add::{draft, page as add};
pub(super) use change::change;
pub(super) use drafts::Drafts;
pub(super) use list::{page, rows};
pub(super) use review::{act, review};
pub(super) use show::page as one;
