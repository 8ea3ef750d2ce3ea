use std::pin::pin;

use bytes::Bytes;
use futures_util::future::{Either, select};
use proto::clean;
use serde_json::json;
use tokio::time::timeout;

use super::connection::Connection;
use crate::caller::Caller;
use crate::config::EraChoice;
use crate::era::Era;
use crate::error::{TransportError, shown};
use crate::handshake::{self, ProbeResult, ServerInfo};
use crate::rpc::{self, Answer, Params, RpcRequest};
use crate::timing::Timing;

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
    /// What is known at the start.
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
    if plan == Plan::LegacyFirst {
        match timeout(timing.probe, initialize(connection, caller)).await {
            Ok(Ok(info)) => {
                connection.send(initialized()).await?;
                return Ok(info);
            }
            Ok(Err(TransportError::WrongEra(_))) | Err(_) => {}
            Ok(Err(error)) => return Err(error),
        }
    }
    let discover = RpcRequest::plain("server/discover", Params::None);
    let mut probe = pin!(connection.ask_in(Era::Modern, &discover));
    let mut late = false;
    if matches!(plan, Plan::Modern | Plan::LegacyFirst) {
        let ProbeResult::Modern(info) = probed(probe.await?) else {
            let why = "it does not speak 2026-07-28, and the config has `era: modern`";
            return Err(TransportError::WrongEra(match plan {
                Plan::Modern => why.into(),
                _ => "it refuses `initialize` and `server/discover`".into(),
            }));
        };
        return Ok(info);
    }
    if plan == Plan::ModernFirst {
        match timeout(timing.probe, &mut probe).await {
            Ok(answer) => {
                if let ProbeResult::Modern(info) = probed(answer?) {
                    return Ok(info);
                }
            }
            // It may be slow, or it may ignore methods that it does not know.
            Err(_elapsed) => late = true,
        }
    }
    let mut initializing = pin!(initialize(connection, caller));
    let info = if late {
        // If it answers both, the newer era counts.
        match select(probe, initializing.as_mut()).await {
            Either::Left((answer, initializing)) => match probed(answer?) {
                ProbeResult::Modern(info) => return Ok(info),
                ProbeResult::Legacy => initializing.await?,
            },
            Either::Right((Ok(info), _)) => info,
            Either::Right((Err(refused), probe)) => {
                return match probed(probe.await?) {
                    ProbeResult::Modern(info) => Ok(info),
                    ProbeResult::Legacy => Err(refused),
                };
            }
        }
    } else {
        initializing.await?
    };
    connection.send(initialized()).await?;
    Ok(info)
}

fn initialized() -> Bytes {
    rpc::notification("notifications/initialized", &json!({}))
}

fn probed(answer: Answer) -> ProbeResult {
    match answer {
        Ok(result) => ProbeResult::of_result(&result.raw),
        Err(error) => ProbeResult::of_error(&error),
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
