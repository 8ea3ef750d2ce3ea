//! Reading a request's body: no more bytes and no more time than allowed.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use proto::Code;
use serde_json::json;
use strip::Failure;

/// Why a body was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyFault {
    #[error("the request body is larger than {limit} bytes")]
    TooLarge { size: Option<u64>, limit: usize },
    #[error("the request body did not arrive within {} s", .0.as_secs_f32())]
    TooSlow(Duration),
    #[error("the request body broke off: {0}")]
    Broken(String),
}

impl BodyFault {
    /// The fault as a caller is told it.
    pub(crate) fn failure(&self) -> Failure {
        let failure = Failure::new(Code::InvalidInput, self.to_string());
        match self {
            Self::TooLarge { size, limit } => {
                failure.details(json!({"size": size, "limit": limit}))
            }
            Self::TooSlow(_) | Self::Broken(_) => failure,
        }
    }
}

/// The whole body. One that announces too much is refused before a byte of it is read.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    patience: Duration,
) -> Result<Bytes, BodyFault> {
    let announced: Option<u64> =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|size| usize::try_from(size).map_or(true, |size| size > limit)) {
        return Err(BodyFault::TooLarge { size: announced, limit });
    }
    match tokio::time::timeout(patience, Limited::new(body, limit).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(BodyFault::TooLarge { size: announced, limit })
        }
        Ok(Err(error)) => Err(BodyFault::Broken(error.to_string())),
        Err(_) => Err(BodyFault::TooSlow(patience)),
    }
}
