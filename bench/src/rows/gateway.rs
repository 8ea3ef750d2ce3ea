//! Rows about servers behind the gateway: the same client and server, with and without the gateway in between.

mod calls;
mod hung;
mod others;
mod sessions;
mod setup;
pub(crate) mod soak;
mod tools;

use std::path::Path;

use crate::cli::{GatewayGroup, GatewayRun};
use crate::rows::report::{Report, close};

/// Measures the requested groups.
pub(crate) async fn measure(run: &GatewayRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    for (group, name) in [
        (GatewayGroup::Calls, "calls of a server"),
        (GatewayGroup::Peers, "other gateways"),
        (GatewayGroup::Hung, "a hung server"),
        (GatewayGroup::Sessions, "many sessions"),
        (GatewayGroup::Tools, "servers of many tools"),
    ] {
        if !run.wants(group) {
            continue;
        }
        let measured = match group {
            GatewayGroup::Calls => calls::measure(run, binary, &mut rows).await,
            GatewayGroup::Peers => others::measure(run, binary, &mut rows).await,
            GatewayGroup::Hung => hung::measure(run, binary, &mut rows).await,
            GatewayGroup::Sessions => sessions::measure(run, binary, &mut rows).await,
            GatewayGroup::Tools => tools::measure(run, binary, &mut rows).await,
        };
        close(name, measured, &mut rows);
    }
    Report { rows }
}
