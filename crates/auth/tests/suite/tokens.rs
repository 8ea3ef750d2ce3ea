//! Valid and forged tokens of a real issuer on loopback, against `Access`.

mod api_keys;
mod forged;
mod introspected;
mod issuer_faults;
mod recheck;
mod signed;
mod support;
