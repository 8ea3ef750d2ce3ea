use std::pin::pin;

use futures_util::future::{Either, select};
use proto::clean;
use serde_json::json;
use tokio::time::timeout;

use super::connection::Connection;
use crate::Timing;
use crate::broken::{Broken, shown};
use crate::era::{self, Era, Facts, Probed};
use crate::rpc::{self, Answer, Ask, Params};
use crate::who::Who;

/// Finds out which era a fresh process speaks and greets it so. A known legacy server is not probed again.
pub(super) async fn greet(
    connection: &Connection,
    known: Option<Era>,
    who: Option<&Who>,
    timing: Timing,
) -> Result<Facts, Broken> {
    let discover = Ask::plain("server/discover", Params::None);
    let mut probe = pin!(connection.ask_in(Era::Modern, &discover));
    let mut late = false;
    if known != Some(Era::Legacy) {
        match timeout(timing.probe, &mut probe).await {
            Ok(answer) => {
                if let Probed::Modern(facts) = probed(answer?) {
                    return Ok(facts);
                }
            }
            // It may be slow, or it may not answer what it does not know.
            Err(_elapsed) => late = true,
        }
    }
    let mut greeting = pin!(initialize(connection, who));
    let facts = if late {
        // Where both answers are there, the newer era counts.
        match select(probe, greeting.as_mut()).await {
            Either::Left((answer, greeting)) => match probed(answer?) {
                Probed::Modern(facts) => return Ok(facts),
                Probed::Legacy => greeting.await?,
            },
            Either::Right((Ok(facts), _)) => facts,
            Either::Right((Err(refused), probe)) => {
                return match probed(probe.await?) {
                    Probed::Modern(facts) => Ok(facts),
                    Probed::Legacy => Err(refused),
                };
            }
        }
    } else {
        greeting.await?
    };
    connection.tell(rpc::notification("notifications/initialized", &json!({}))).await?;
    Ok(facts)
}

fn probed(answer: Answer) -> Probed {
    match answer {
        Ok(result) => Probed::of_result(&result.raw),
        Err(error) => Probed::of_error(&error),
    }
}

async fn initialize(connection: &Connection, who: Option<&Who>) -> Result<Facts, Broken> {
    let params = era::greeting(who);
    let ask = Ask::plain("initialize", Params::Map(&params));
    match connection.ask_in(Era::Legacy, &ask).await? {
        Ok(result) => era::greeted(&result.raw).map_err(|why| Broken::WrongEra(why.into())),
        Err(error) => {
            let said = clean::line(&shown(&error.message));
            let why = format!("`initialize` failed with {}: {said}", error.code);
            Err(Broken::WrongEra(why.into()))
        }
    }
}
