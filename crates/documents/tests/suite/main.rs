//! Documents of every kind, good and hostile, as text.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not inside a test function")]

mod fonts;
mod hostile;
mod layout;
mod main_content;
mod markdown;
mod markup;
mod pages;
mod reading;
mod ruled;
mod shapes;
