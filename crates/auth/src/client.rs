//! OAuth as a client of protected servers: a challenge becomes metadata, metadata a token for that one server, and the
//! token goes nowhere else. And of the identity provider, where people sign in to the gateway itself (`sign_in.rs`). What servers and authorization servers say is taken for hostile until it fits.

mod assertion;
mod authority;
mod challenge;
mod config;
mod exchange;
mod fault;
mod fetch;
mod grants;
mod holder;
mod keyring;
mod login;
mod registration;
mod resource;
mod server;
mod sign_in;
mod token;
mod visit;

pub use challenge::Bearer;
pub use config::{ClientConfig, Grant, Resource, Subject, Unusable};
pub use fault::Fault;
pub use holder::Holder;
pub use keyring::Keyring;

pub use server::ServerTokens;
pub use sign_in::{
    Departure, Landed, SIGN_IN_CALLBACK, SIGN_IN_PATIENCE, SignIn, SignInFault, Stay,
};
pub use visit::{Invitation, Landing};
