use std::pin::pin;

use futures_util::future::{Either, select};
use proto::clean;
use serde_json::json;
use tokio::time::timeout;

use super::connection::Connection;
use crate::caller::Caller;
use crate::era::Era;
use crate::error::{TransportError, shown};
use crate::handshake::{self, ProbeResult, ServerInfo};
use crate::rpc::{self, Answer, Params, RpcRequest};
use crate::timing::Timing;

/// Finds out which era a new process speaks, and does the handshake of that era. A known legacy server is not probed.
pub(super) async fn shake_hands(
    connection: &Connection,
    known: Option<Era>,
    caller: Option<&Caller>,
    timing: Timing,
) -> Result<ServerInfo, TransportError> {
    let discover = RpcRequest::plain("server/discover", Params::None);
    let mut probe = pin!(connection.ask_in(Era::Modern, &discover));
    let mut late = false;
    if known != Some(Era::Legacy) {
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
    connection.send(rpc::notification("notifications/initialized", &json!({}))).await?;
    Ok(info)
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
