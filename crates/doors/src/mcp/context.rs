//! What is known about the request at hand.

use http::request::Parts;
use proto::TraceId;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, ProtocolVersion};
use rmcp::service::RequestContext;
use strip::LogLevel;

use super::content::ContentKinds;
use crate::http::SessionUse;

/// Whether a request uses revision 2026-07-28 or later, in which structured content may be any JSON.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The kinds of content that the client of a request can read.
pub(super) fn content_kinds(context: &RequestContext<RoleServer>) -> ContentKinds {
    ContentKinds::of(context.protocol_version().as_ref().map(ProtocolVersion::as_str))
}

/// The session that a request belongs to, over HTTP.
pub(super) fn session_of(context: &RequestContext<RoleServer>) -> Option<&SessionUse> {
    context.extensions.get::<Parts>()?.extensions.get()
}

/// Keeps the session from being parked, because rmcp holds state for it from now on.
pub(super) fn keep_worker(session: Option<&SessionUse>) {
    if let Some(session) = session {
        session.keep_worker();
    }
}

/// The trace id that the HTTP door gave a request, or a new one.
pub(super) fn trace(context: &RequestContext<RoleServer>) -> TraceId {
    context
        .extensions
        .get::<Parts>()
        .and_then(|parts| parts.extensions.get::<TraceId>())
        .copied()
        .unwrap_or_else(TraceId::random)
}

/// The level of rmcp as the strip knows it.
pub(super) fn log_level(level: LoggingLevel) -> Option<LogLevel> {
    let name = serde_json::to_value(level).ok()?;
    LogLevel::named(name.as_str()?)
}
