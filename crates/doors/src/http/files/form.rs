//! Forms with files. Everything outside the files is limited, because the parser holds it in memory until the next file
//! begins.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::extract::multipart::Multipart;
use axum::extract::{FromRequest as _, Request};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};
use proto::Failure;

use super::intake::{broken_off, timed, too_slow};
use super::invalid;

/// How many bytes may stand before a field's data, all its headers among them.
const MAX_OUTSIDE: usize = 64 << 10;

/// As much is read at a time outside of fields.
const STEP: usize = 8 << 10;

/// How many fields a form has at most.
const MAX_FIELDS: usize = 32;

/// A form as it arrives.
pub struct Form {
    parts: Multipart,
    gauge: Arc<Gauge>,
    fields: usize,
    timeout: Duration,
}

/// A field of a form. Its bytes end with an error if they arrive too slowly.
pub struct FormField<'a> {
    pub name: String,
    /// The name of a file, if the field is one.
    pub file_name: Option<String>,
    pub bytes: BoxStream<'a, Result<Bytes, Failure>>,
}

/// How much was read since the last field ended.
#[derive(Default)]
struct Gauge {
    outside: AtomicBool,
    bytes: AtomicUsize,
}

impl Gauge {
    fn is_over(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > MAX_OUTSIDE
    }
}

impl Form {
    /// The form that a request brings.
    pub async fn of(request: Request, timeout: Duration) -> Result<Self, Failure> {
        let gauge = Arc::<Gauge>::default();
        let (parts, body) = request.into_parts();
        let paced = Paced {
            body: body.into_data_stream(),
            waiting: Bytes::new(),
            gave: false,
            gauge: Arc::clone(&gauge),
        };
        let request = Request::from_parts(parts, Body::from_stream(paced));
        let parts = Multipart::from_request(request, &())
            .await
            .map_err(|error| invalid(format!("the form cannot be read: {}", error.body_text())))?;
        Ok(Self { parts, gauge, fields: 0, timeout })
    }

    /// The next field, once the one before has been read.
    pub async fn next(&mut self) -> Result<Option<FormField<'_>>, Failure> {
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            return Err(invalid(format!("a form has {MAX_FIELDS} fields at most")));
        }
        self.gauge.bytes.store(0, Ordering::Relaxed);
        self.gauge.outside.store(true, Ordering::Relaxed);
        let next = tokio::time::timeout(self.timeout, self.parts.next_field()).await;
        self.gauge.outside.store(false, Ordering::Relaxed);
        match next {
            Ok(Ok(field)) => Ok(field.map(|field| FormField {
                name: field.name().unwrap_or_default().to_owned(),
                file_name: field.file_name().map(str::to_owned),
                bytes: timed(field, self.timeout, |error| broken_off(&error)),
            })),
            _ if self.gauge.is_over() => Err(invalid(format!(
                "more than {MAX_OUTSIDE} bytes of the form stand outside its fields"
            ))),
            Ok(Err(error)) => Err(broken_off(&error)),
            Err(_) => Err(too_slow(self.timeout)),
        }
    }
}

/// A body that comes in small steps outside of fields, so that no more is read than up to the next field.
struct Paced {
    body: BodyDataStream,
    waiting: Bytes,
    /// Whether the reader has to look at what it got before there is more.
    gave: bool,
    gauge: Arc<Gauge>,
}

impl Stream for Paced {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let outside = self.gauge.outside.load(Ordering::Relaxed);
        if outside && std::mem::take(&mut self.gave) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.waiting.is_empty() {
            match std::task::ready!(self.body.poll_next_unpin(context)) {
                Some(Ok(chunk)) => self.waiting = chunk,
                other => return Poll::Ready(other),
            }
        }
        if !outside {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.waiting))));
        }
        let length = self.waiting.len().min(STEP);
        let step = self.waiting.split_to(length);
        self.gave = true;
        self.gauge.bytes.fetch_add(length, Ordering::Relaxed);
        if self.gauge.is_over() {
            return Poll::Ready(Some(Err(axum::Error::new("too much data outside of fields"))));
        }
        Poll::Ready(Some(Ok(step)))
    }
}
