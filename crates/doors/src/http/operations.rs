//! Serves the routes of the operations table: reads the input from path, query or body, runs the operation, renders its
//! answer.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use http::header::CACHE_CONTROL;
use http::{HeaderValue, StatusCode};
use operations::{Caller, Method, OperationError, RawInput, Reply, Route, Table};
use proto::{Blame, Failure, Principal, TraceId};
use serde_json::Value;
use url::form_urlencoded;

use super::body::BodyFault;
use super::envelope::idempotency_key;
use super::reply;
use super::state::Shared;
use crate::exact::check_integers;

/// The fields of a path, if they are UTF-8.
type RawPath = Result<RawPathParams, RawPathParamsRejection>;

/// Adds the routes of the table.
pub(super) fn mount(mut router: Router<Shared>, table: &Table) -> Router<Shared> {
    for row in table.rows() {
        let (name, Some(route)) = (row.name, row.route) else { continue };
        let method = match route.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Delete => MethodFilter::DELETE,
        };
        let serve = async move |State(shared): State<Shared>,
                                Extension(principal): Extension<Arc<Principal>>,
                                Extension(trace): Extension<TraceId>,
                                path: RawPath,
                                request: Request| {
            let began = Instant::now();
            let asked = OperationRequest { shared, route, principal, trace };
            match (asked.run(name, path, request).await, route.reply) {
                (Ok(output), Reply::Plain) => unstored(reply::json(StatusCode::OK, &output)),
                (Ok(output), Reply::Envelope) => {
                    unstored(reply::enveloped(StatusCode::OK, output, began, trace))
                }
                (Err(error), _) => refuse(error, trace),
            }
        };
        router = router.route(route.path, on(method, serve));
    }
    router
}

/// An admitted request for an operation.
struct OperationRequest {
    shared: Shared,
    route: Route,
    principal: Arc<Principal>,
    trace: TraceId,
}

impl OperationRequest {
    /// Runs the operation of this name. A refusal before the call that it makes has an audit row of its own.
    async fn run(
        &self,
        name: &str,
        path: RawPath,
        request: Request,
    ) -> Result<Value, OperationError> {
        let done = async {
            let mut caller = Caller::remote(Arc::clone(&self.principal), self.trace);
            if self.route.takes_key {
                caller.idempotency_key = idempotency_key(request.headers())?;
            }
            let input = self.read(path, request).await?;
            self.shared.options.operations.run(name, caller, input).await
        };
        match done.await {
            Err(error)
                if let Some(about) = self.route.calls
                    && !error.recorded
                    && error.code.blame() == Blame::Caller =>
            {
                let failure = Failure::from(error);
                let recorded =
                    self.shared.refuse_call(about, &self.principal, self.trace, failure).await;
                Err(recorded.into())
            }
            done => done,
        }
    }

    /// Fields of the path come first, so that a query or a body that names one of them again is refused as a duplicate.
    async fn read(&self, path: RawPath, request: Request) -> Result<RawInput, OperationError> {
        let path = path.map_err(|rejection| OperationError::invalid(rejection.body_text()))?;
        let mut fields: Vec<_> =
            path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        if self.route.method != Method::Post {
            let query = request.uri().query().unwrap_or_default();
            fields.extend(form_urlencoded::parse(query.as_bytes()).into_owned());
            return Ok(RawInput::Fields(fields));
        }
        let (parts, body) = request.into_parts();
        let most = self.route.max_body_bytes;
        let body = match self.shared.bodies.read_json(&parts, body, most).await {
            Ok(body) => body,
            Err(fault) => return Err(self.refuse_body(&fault).await),
        };
        check_integers(&body).map_err(OperationError::from)?;
        splice(&fields, &body)
            .ok_or_else(|| OperationError::invalid("the body is not a JSON object"))
    }

    async fn refuse_body(&self, fault: &BodyFault) -> OperationError {
        let Some(about) = self.route.calls else { return fault.failure().into() };
        let refused = self.shared.refuse_body(fault, about, &self.principal, self.trace);
        // Boxed to keep the common future small.
        OperationError::of_call(Box::pin(refused).await)
    }
}

/// The text of the body's object with these fields in front. The typed reader sees all of it, duplicates included.
fn splice(fields: &[(String, String)], body: &[u8]) -> Option<RawInput> {
    let inner = body.trim_ascii().strip_prefix(b"{")?;
    let mut text = vec![b'{'];
    for (index, (name, value)) in fields.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        text.extend(serde_json::to_vec(name).ok()?);
        text.push(b':');
        text.extend(serde_json::to_vec(value).ok()?);
    }
    if !fields.is_empty() && inner.trim_ascii_start().first() != Some(&b'}') {
        text.push(b',');
    }
    text.extend(inner);
    Some(RawInput::Json(text))
}

fn refuse(error: OperationError, trace: TraceId) -> Response {
    let conflict = error.conflict;
    let failure = Failure::from(error);
    let status = if conflict { StatusCode::CONFLICT } else { reply::usual_status(&failure) };
    reply::refuse(status, &failure, trace)
}

fn unstored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_gets_the_fields_of_the_path() {
        let fields = [("id".to_owned(), "a\"b".to_owned())];
        for (body, expected) in [
            ("{}", r#"{"id":"a\"b"}"#),
            (r#" {"x": 1} "#, r#"{"id":"a\"b","x": 1}"#),
            (r#"{"id": "c"}"#, r#"{"id":"a\"b","id": "c"}"#),
        ] {
            let Some(RawInput::Json(text)) = splice(&fields, body.as_bytes()) else {
                panic!("{body}");
            };
            assert_eq!(String::from_utf8_lossy(&text), expected);
        }
        for body in ["", "[]", "3", "null"] {
            assert!(splice(&fields, body.as_bytes()).is_none(), "{body}");
        }
    }
}
