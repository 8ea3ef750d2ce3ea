//! Where capability servers announce themselves, renew their leases and say goodbye.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use proto::{Code, Failure, TraceId};
use serde::de::DeserializeOwned;

use super::registration::{Announced, Declined, ServerRegistration};
use super::{Shared, reply};
use crate::exact::check_integers;

/// Room for the tools of a large server.
const MAX_BODY_BYTES: usize = 512 * 1024;

/// Names the lease that a heartbeat or a goodbye is about.
const LEASE: &str = "powerstrip-lease";

pub(super) async fn register(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let registered = async {
        let registration = registration(&shared)?;
        let (parts, body) = request.into_parts();
        let token = token(&parts.headers)?;
        let announced: Announced = read(&shared, &parts, body).await?;
        registration.register(token, announced).await.map_err(Refusal::from)
    };
    match registered.await {
        Ok(granted) => reply::json(StatusCode::CREATED, &granted),
        Err(refusal) => refusal.response(trace),
    }
}

pub(super) async fn heartbeat(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let renewed = async {
        let registration = registration(&shared)?;
        let (name, token) = (name(path)?, token(&headers)?);
        let lease = lease(&headers)?.ok_or_else(|| {
            Refusal::invalid("the header `Powerstrip-Lease` names the lease to renew")
        })?;
        registration.heartbeat(token, &name, lease).await.map_err(Refusal::from)
    };
    match renewed.await {
        Ok(granted) => reply::json(StatusCode::OK, &granted),
        Err(refusal) => refusal.response(trace),
    }
}

pub(super) async fn goodbye(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let left = async {
        let registration = registration(&shared)?;
        let (name, token, lease) = (name(path)?, token(&headers)?, lease(&headers)?);
        registration.goodbye(token, &name, lease).await.map_err(Refusal::from)
    };
    match left.await {
        Ok(()) => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        Err(refusal) => refusal.response(trace),
    }
}

/// A refusal under a status that its code alone does not tell.
struct Refusal(StatusCode, Failure);

impl Refusal {
    fn invalid(message: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, Failure::new(Code::InvalidInput, message))
    }

    fn response(&self, trace: TraceId) -> Response {
        let Self(status, failure) = self;
        let mut response = reply::refuse(*status, failure, trace);
        if *status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"registration\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl From<Declined> for Refusal {
    fn from(declined: Declined) -> Self {
        let (status, code, message) = match declined {
            Declined::Token => (
                StatusCode::UNAUTHORIZED,
                Code::Denied,
                "a registration token is needed, as `Authorization: Bearer …`; this one is none"
                    .to_owned(),
            ),
            Declined::Invalid(why) => (StatusCode::BAD_REQUEST, Code::InvalidInput, why),
            Declined::Taken(why) => (StatusCode::CONFLICT, Code::Denied, why),
            Declined::Unknown(why) => (StatusCode::NOT_FOUND, Code::NotFound, why),
            Declined::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, Code::Unavailable, why),
        };
        Self(status, Failure::new(code, message))
    }
}

fn registration(shared: &Shared) -> Result<&Arc<dyn ServerRegistration>, Refusal> {
    shared.options.servers.as_ref().ok_or_else(|| {
        let failure = Failure::new(Code::Unsupported, "this process takes no registrations");
        Refusal(reply::usual_status(&failure), failure)
    })
}

/// The bearer token; a second header or another scheme is none.
fn token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let token = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        }),
        _ => None,
    };
    token.filter(|token| !token.is_empty()).ok_or_else(|| Declined::Token.into())
}

fn lease(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    headers
        .get(LEASE)
        .map(|lease| lease.to_str().map(str::trim))
        .transpose()
        .map_err(|_| Refusal::invalid("the header `Powerstrip-Lease` is not plain text"))
}

fn name(path: Result<Path<String>, PathRejection>) -> Result<String, Refusal> {
    path.map(|Path(name)| name).map_err(|rejection| Refusal::invalid(rejection.body_text()))
}

async fn read<T: DeserializeOwned>(
    shared: &Shared,
    parts: &Parts,
    body: axum::body::Body,
) -> Result<T, Refusal> {
    let limit = MAX_BODY_BYTES.min(shared.options.max_body_bytes);
    let read = shared.bodies.read_json(parts, body, limit).await;
    let bytes = read.map_err(|fault| {
        let failure = fault.failure();
        Refusal(reply::usual_status(&failure), failure)
    })?;
    check_integers(&bytes).map_err(|failure| Refusal(reply::usual_status(&failure), failure))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Refusal::invalid(format!("the announcement cannot be read: {error}")))
}
