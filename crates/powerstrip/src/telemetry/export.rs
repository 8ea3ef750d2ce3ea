//! Sends traces through the guarded HTTP client, which can reach only the configured collector.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use async_trait::async_trait;
use bytes::Bytes;
use egress::http::{AddressPolicy, Client, Limits, OwnListeners, Rule, Scope};
use http::{HeaderName, HeaderValue, Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use proto::{Scrubber, Secret};
use tokio::runtime::Handle;

/// How long sending one batch may take.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// A provider whose spans are sent in batches to a collector.
pub(super) fn provider(
    endpoint: &str,
    headers: &[(String, Secret)],
    secrets: &Arc<ArcSwap<Scrubber>>,
) -> anyhow::Result<SdkTracerProvider> {
    let rule = Rule::for_url(endpoint).with_context(|| format!("telemetry.otlp: `{endpoint}`"))?;
    let policy = AddressPolicy::new(vec![rule], OwnListeners::default());
    let headers = headers
        .iter()
        .map(|(name, value)| {
            let name: HeaderName =
                name.parse().with_context(|| format!("telemetry.otlp.headers: `{name}`"))?;
            let mut value = HeaderValue::from_str(value.expose()).with_context(|| {
                format!("telemetry.otlp.headers.{name} cannot be sent in a header")
            })?;
            value.set_sensitive(true);
            Ok((name, value))
        })
        .collect::<anyhow::Result<_>>()?;
    let (client, secrets) = (Client::new(policy)?, Arc::clone(secrets));
    let client = Collector { client, headers, secrets, runtime: Handle::current() };
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_endpoint(format!("{endpoint}/v1/traces"))
        .with_timeout(EXPORT_TIMEOUT)
        .build()?;
    let resource = Resource::builder().with_service_name("powerstrip").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

/// The HTTP client of the exporter.
struct Collector {
    client: Client,
    headers: Vec<(HeaderName, HeaderValue)>,
    secrets: Arc<ArcSwap<Scrubber>>,
    runtime: Handle,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let mut headers = parts.headers;
        headers.extend(self.headers.iter().cloned());
        // The body is Protocol Buffers with length-prefixed strings, so secrets are overwritten in place.
        let mut body = body.to_vec();
        self.secrets.load().overwrite(&mut body);
        let request = egress::http::Request {
            method: parts.method,
            url: parts.uri.to_string(),
            headers,
            body: Bytes::from(body).into(),
        };
        let client = self.client.clone();
        // The exporter's thread has no runtime; connections need ours.
        let sent = self.runtime.spawn(async move {
            let limits =
                Limits { deadline: Some(EXPORT_TIMEOUT), max_redirects: 0, ..Limits::default() };
            client.send(request, &limits, &Scope::everything()).await
        });
        let answer = sent.await??;
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}
