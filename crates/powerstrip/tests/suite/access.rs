//! A gateway with `auth`: callers with valid, invalid and no credentials.

mod audience;
mod challenges;
mod identity;
mod keys;
mod matrix;
mod provider;
mod scopes;
mod secrets;
mod shares;
mod support;
