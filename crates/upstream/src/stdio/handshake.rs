use std::pin::{Pin, pin};

use futures_util::future::{Either, select};
use proto::clean;
use serde_json::json;
use tokio::time::timeout;

use super::connection::Connection;
use crate::caller::Caller;
use crate::era::Era;
use crate::error::{TransportError, shown};
use crate::handshake::{self, ProbeResult, ServerInfo};
use crate::rpc::{self, Params, RpcRequest};
use crate::timing::Timing;
use server_entry::EraChoice;

/// What is known of the eras that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownEra {
    Nothing,
    Legacy,
    /// The modern one. Whether it speaks the legacy one, too, shows only when it is tried.
    Modern,
    ModernOnly,
}

impl KnownEra {
    /// The knowledge at the start, from the config.
    pub(super) fn of(choice: EraChoice) -> Self {
        match choice {
            EraChoice::Auto => Self::Nothing,
            EraChoice::Legacy => Self::Legacy,
            EraChoice::Modern => Self::ModernOnly,
        }
    }

    /// The era that requests of the gateway are sent in.
    pub(super) fn era(self) -> Option<Era> {
        match self {
            Self::Nothing => None,
            Self::Legacy => Some(Era::Legacy),
            Self::Modern | Self::ModernOnly => Some(Era::Modern),
        }
    }

    /// Whether a caller's capabilities are sent with each request, so that they need no process of their own.
    pub(super) fn is_modern_for(self, caller: &Caller) -> bool {
        match self {
            Self::Nothing | Self::Legacy => false,
            Self::Modern => !caller.is_asked_directly(),
            Self::ModernOnly => true,
        }
    }

    /// How the handshake for a caller begins.
    pub(super) fn plan(self, choice: EraChoice, caller: Option<&Caller>) -> Plan {
        let direct = caller.is_some_and(Caller::is_asked_directly);
        match (choice, self) {
            (EraChoice::Modern, _) => Plan::Modern,
            (EraChoice::Legacy, _) | (_, Self::Legacy) => Plan::Legacy,
            (EraChoice::Auto, Self::Nothing | Self::Modern) if direct => Plan::LegacyFirst,
            (EraChoice::Auto, _) => Plan::ModernFirst,
        }
    }

    /// What is known after a handshake.
    pub(super) fn after(self, plan: Plan, era: Era) -> Self {
        match (plan, era) {
            (Plan::LegacyFirst, Era::Modern) => Self::ModernOnly,
            // It may speak both.
            (Plan::LegacyFirst, Era::Legacy) => self,
            (_, Era::Legacy) => Self::Legacy,
            (_, Era::Modern) if self == Self::ModernOnly => self,
            (_, Era::Modern) => Self::Modern,
        }
    }
}

/// How a handshake goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// `initialize` only.
    Legacy,
    /// `initialize`, and `server/discover` if the server refuses it.
    LegacyFirst,
    /// `server/discover`, and `initialize` if the server does not know it.
    ModernFirst,
    /// `server/discover` only.
    Modern,
}

/// Finds out which era a new process speaks, and does the handshake of that era.
pub(super) async fn shake_hands(
    connection: &Connection,
    plan: Plan,
    caller: Option<&Caller>,
    timing: Timing,
) -> Result<ServerInfo, TransportError> {
    let info = match plan {
        Plan::Legacy => initialize(connection, caller).await?,
        Plan::LegacyFirst => legacy_first(connection, caller, timing).await?,
        Plan::ModernFirst => modern_first(connection, caller, timing).await?,
        Plan::Modern => match probe(connection).await? {
            ProbeResult::Modern(info) => info,
            ProbeResult::Legacy => {
                let why = "it does not speak 2026-07-28, and the config has `era: modern`";
                return Err(TransportError::WrongEra(why.into()));
            }
        },
    };
    if info.era == Era::Legacy {
        connection.send(rpc::notification("notifications/initialized", &json!({}))).await?;
    }
    Ok(info)
}

async fn legacy_first(
    connection: &Connection,
    caller: Option<&Caller>,
    timing: Timing,
) -> Result<ServerInfo, TransportError> {
    let mut initializing = pin!(initialize(connection, caller));
    match timeout(timing.probe, &mut initializing).await {
        Ok(Err(refused @ TransportError::WrongEra(_))) => {
            discover(connection).await.map_err(|why| join_refusals(refused, why))
        }
        Ok(initialized) => initialized,
        // It may be slow, or it may ignore methods that it does not know.
        Err(_elapsed) => first_accepted(initializing, pin!(discover(connection))).await,
    }
}

async fn modern_first(
    connection: &Connection,
    caller: Option<&Caller>,
    timing: Timing,
) -> Result<ServerInfo, TransportError> {
    let mut discovering = pin!(discover(connection));
    match timeout(timing.probe, &mut discovering).await {
        Ok(Err(TransportError::WrongEra(_))) => initialize(connection, caller).await,
        Ok(discovered) => discovered,
        // It may be slow, or it may ignore methods that it does not know.
        Err(_elapsed) => first_accepted(discovering, pin!(initialize(connection, caller))).await,
    }
}

/// Waits for two handshakes that were both begun: the first that the server accepts names the era, and the preferred one
/// if it accepts both at once. A server that has accepted one refuses the other.
async fn first_accepted<P, O>(
    preferred: Pin<&mut P>,
    other: Pin<&mut O>,
) -> Result<ServerInfo, TransportError>
where
    P: Future<Output = Result<ServerInfo, TransportError>>,
    O: Future<Output = Result<ServerInfo, TransportError>>,
{
    let (refused, second) = match select(preferred, other).await {
        Either::Left((Err(refused @ TransportError::WrongEra(_)), other)) => (refused, other.await),
        Either::Right((Err(refused @ TransportError::WrongEra(_)), preferred)) => {
            (refused, preferred.await)
        }
        Either::Left((answer, _)) | Either::Right((answer, _)) => return answer,
    };
    second.map_err(|why| join_refusals(refused, why))
}

/// One error for a server that refuses both eras.
fn join_refusals(first: TransportError, second: TransportError) -> TransportError {
    match (first, second) {
        (TransportError::WrongEra(first), TransportError::WrongEra(second)) => {
            TransportError::WrongEra(format!("{first}; {second}").into())
        }
        (_, second) => second,
    }
}

async fn probe(connection: &Connection) -> Result<ProbeResult, TransportError> {
    let request = RpcRequest::plain("server/discover", Params::None);
    Ok(match connection.ask_in(Era::Modern, &request).await? {
        Ok(result) => ProbeResult::of_result(&result.raw),
        Err(error) => ProbeResult::of_error(&error),
    })
}

async fn discover(connection: &Connection) -> Result<ServerInfo, TransportError> {
    match probe(connection).await? {
        ProbeResult::Modern(info) => Ok(info),
        ProbeResult::Legacy => Err(TransportError::WrongEra("it refuses `server/discover`".into())),
    }
}

async fn initialize(
    connection: &Connection,
    caller: Option<&Caller>,
) -> Result<ServerInfo, TransportError> {
    let params = handshake::initialize_params(caller);
    let request = RpcRequest::plain("initialize", Params::Map(&params));
    match connection.ask_in(Era::Legacy, &request).await? {
        Ok(result) => handshake::read_initialize(&result.raw)
            .map_err(|why| TransportError::WrongEra(why.into())),
        Err(error) => {
            let said = clean::line(&shown(&error.message));
            let why = format!("`initialize` failed with {}: {said}", error.code);
            Err(TransportError::WrongEra(why.into()))
        }
    }
}
