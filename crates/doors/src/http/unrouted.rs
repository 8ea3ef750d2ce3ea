//! Finds the route of a request, and answers requests that match none.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode, Uri};
use proto::{Code, Failure, TraceId};
use serde_json::{Value, json};

use super::pages::wants_page;
use super::reply;
use super::routes::{ROUTES, Route};
use super::state::Shared;

/// The route of a pattern; where methods need different things, the one that takes the method.
pub(super) fn find(shared: &Shared, pattern: &str, method: &Method) -> Option<Route> {
    let mut routes = all(shared).filter(|route| route.pattern == pattern);
    // HEAD is served by the handlers of GET.
    let sought = if method == Method::HEAD { Method::GET } else { method.clone() };
    let takes = |route: &Route| {
        let mut taken = route.methods.split(", ");
        taken.any(|taken| taken == sought.as_str() || taken == method.as_str())
    };
    routes.clone().find(takes).or_else(|| routes.next())
}

/// The routes that are written by hand, those of the pages, and those of the operations table.
fn all(shared: &Shared) -> impl Iterator<Item = Route> + Clone {
    let pages = shared.options.pages.as_ref().map_or(&[][..], |pages| pages.routes());
    let operations = shared.options.operations.rows().filter_map(Route::of);
    ROUTES.iter().chain(pages).copied().chain(operations)
}

pub(super) async fn unknown(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    Extension(trace): Extension<TraceId>,
) -> Response {
    missing(&shared, &method, &uri, &headers, trace)
}

/// The answer to a path without a route: a page for browsers, the list of routes for programs.
pub(super) fn missing(
    shared: &Shared,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    trace: TraceId,
) -> Response {
    if let Some(pages) = shared.options.pages.as_ref().filter(|_| wants_page(method, headers)) {
        let message = format!("There is no page at {}.", shown(uri));
        return pages.refusal(StatusCode::NOT_FOUND, &message);
    }
    let failure = Failure::new(
        Code::NotFound,
        format!("there is no {method} {}; `details.routes` lists what there is", shown(uri)),
    );
    let failure = failure.details(json!({"routes": listed(shared)}));
    reply::refuse(StatusCode::NOT_FOUND, &failure, trace)
}

pub(super) async fn wrong_method(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    Extension(trace): Extension<TraceId>,
) -> Response {
    let failure = Failure::new(
        Code::Unsupported,
        format!("{} does not take {method}; the Allow header says what it takes", shown(&uri)),
    );
    let failure = failure.details(json!({"routes": listed(&shared)}));
    reply::refuse(StatusCode::METHOD_NOT_ALLOWED, &failure, trace)
}

fn listed(shared: &Shared) -> Vec<Value> {
    all(shared)
        .map(
            |route| json!({"methods": route.methods, "path": route.path, "purpose": route.purpose}),
        )
        .collect()
}

fn shown(uri: &Uri) -> String {
    uri.path().chars().take(200).collect()
}
