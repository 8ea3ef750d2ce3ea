//! OAuth as a client of protected servers: a challenge leads to metadata, the metadata to a token for that one server. The
//! token is sent to no other server. `sign_in.rs` is the client of the identity provider at which people sign in to the
//! gateway itself. All answers of servers and authorization servers are validated as untrusted input.

mod assertion;
mod authority;
mod challenge;
mod config;
mod dpop;
mod exchange;
mod fault;
mod fetch;
mod grants;
mod holder;
mod login;
mod login_pages;
mod oauth_client;
mod registration;
mod resource;
mod server;
mod sign_in;
mod token;

pub(crate) use authority::metadata_urls;
pub use challenge::BearerChallenge;
pub use config::{
    ClientConfig, Grant, IdentityProvider, InvalidClientConfig, Resource, SubjectToken,
};
pub use fault::Fault;
pub use holder::Holder;
pub use login_pages::{LoginOutcome, LoginPrompt};
pub use oauth_client::OAuthClient;
pub use server::{ServerTokens, TokenServer};
pub use sign_in::{
    SIGN_IN_CALLBACK, SIGN_IN_TIMEOUT, SessionTokens, SignIn, SignInFault, SignInRedirect, SignedIn,
};
