//! Objects in a bucket that speaks the S3 protocol.

use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpClient, HttpConnector, HttpService};
use object_store::path::Path;
use object_store::signer::{Method, SignedUrlOptions, Signer as _};
use object_store::{
    ClientOptions, GetOptions, GetRange, ObjectStore as _, ObjectStoreExt as _, PutPayload,
    RetryConfig, WriteMultipart,
};
use url::Url;

use super::folder::digest_of;
use super::{LinkHeaders, ListedObject, ObjectKey, ObjectStream, PutFault, Stored};
use crate::StoreError;

/// The size of a part. S3 takes ten thousand of them, and none but the last below 5 MiB.
const PART: usize = 8 << 20;

/// How many parts are under way at once.
const PARTS_AT_ONCE: usize = 2;

/// How often, and for how long, a request is tried again.
const RETRIES: usize = 3;
const RETRY_TIMEOUT: Duration = Duration::from_secs(30);

/// Which bucket, and how it is entered.
#[derive(Clone)]
pub struct BucketOptions {
    pub bucket: String,
    /// The prefix of every key, without slashes at its ends; may be empty.
    pub prefix: String,
    pub region: String,
    /// Where the service is, if it is not Amazon's.
    pub endpoint: Option<Url>,
    /// Whether the bucket's name is part of the path instead of the host.
    pub path_style: bool,
    pub access_key: String,
    pub secret_key: String,
    pub session_token: Option<String>,
}

/// The client that was given, whatever is asked of it.
#[derive(Debug)]
struct Given(HttpClient);

impl HttpConnector for Given {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.0.clone())
    }
}

#[derive(Clone, Debug)]
pub(super) struct Bucket {
    store: Arc<AmazonS3>,
    prefix: String,
}

impl Bucket {
    pub(super) fn new(
        options: BucketOptions,
        client: impl HttpService,
    ) -> Result<Self, StoreError> {
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(options.bucket)
            .with_region(options.region)
            .with_virtual_hosted_style_request(!options.path_style)
            .with_access_key_id(options.access_key)
            .with_secret_access_key(options.secret_key)
            .with_retry(RetryConfig {
                max_retries: RETRIES,
                retry_timeout: RETRY_TIMEOUT,
                ..RetryConfig::default()
            })
            .with_http_connector(Given(HttpClient::new(client)));
        if let Some(token) = options.session_token {
            builder = builder.with_token(token);
        }
        if let Some(endpoint) = options.endpoint {
            builder = builder
                .with_allow_http(endpoint.scheme() == "http")
                .with_endpoint(endpoint.as_str().trim_end_matches('/'));
        }
        let store = Arc::new(builder.build().map_err(fault)?);
        Ok(Self { store, prefix: options.prefix })
    }

    pub(super) async fn put<E: Send>(
        &self,
        key: &ObjectKey,
        bytes: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Stored, PutFault<E>> {
        let (mut bytes, path) = (pin!(bytes), self.path(key));
        let (mut hasher, mut size) = (Context::new(&SHA256), 0);
        let mut first = Vec::new();
        let mut parts: Option<Parts> = None;
        while let Some(chunk) = bytes.next().await {
            let chunk = chunk.map_err(PutFault::Sender)?;
            hasher.update(&chunk);
            size += chunk.len() as u64;
            match &mut parts {
                Some(parts) => parts.put(chunk).await?,
                None => {
                    first.push(chunk);
                    // An object that fits into one part needs one request.
                    if size >= PART as u64 {
                        let upload = self.store.put_multipart(&path).await.map_err(fault)?;
                        let mut begun =
                            Parts(Some(WriteMultipart::new_with_chunk_size(upload, PART)));
                        for chunk in std::mem::take(&mut first) {
                            begun.put(chunk).await?;
                        }
                        parts = Some(begun);
                    }
                }
            }
        }
        match parts {
            Some(parts) => parts.finish().await?,
            None => {
                let payload = PutPayload::from_iter(first);
                self.store.put(&path, payload).await.map_err(fault)?;
            }
        }
        Ok(Stored { size, sha256: digest_of(&hasher) })
    }

    pub(super) async fn open(
        &self,
        key: &ObjectKey,
        range: Option<Range<u64>>,
    ) -> Result<ObjectStream, StoreError> {
        // No service has a range without bytes.
        if range.as_ref().is_some_and(Range::is_empty) {
            return Ok(futures_util::stream::empty().boxed());
        }
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.store.get_opts(&self.path(key), options).await;
        Ok(found.map_err(|error| missing(key, error))?.into_stream().map_err(fault).boxed())
    }

    pub(super) async fn copy(&self, from: &ObjectKey, to: &ObjectKey) -> Result<(), StoreError> {
        let copied = self.store.copy(&self.path(from), &self.path(to)).await;
        copied.map_err(|error| missing(from, error))
    }

    pub(super) async fn remove(&self, key: &ObjectKey) -> Result<(), StoreError> {
        match self.store.delete(&self.path(key)).await {
            Err(object_store::Error::NotFound { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(fault(error)),
        }
    }

    pub(super) async fn link(
        &self,
        key: &ObjectKey,
        lasting: Duration,
        headers: &LinkHeaders,
    ) -> Result<Url, StoreError> {
        let options = SignedUrlOptions::new().with_query([
            ("response-content-type", &headers.content_type),
            ("response-content-disposition", &headers.content_disposition),
        ]);
        let path = self.path(key);
        let signed = self.store.signed_url_opts(Method::GET, &path, lasting, &options);
        signed.await.map_err(fault)
    }

    pub(super) async fn shard(&self, shard: &str) -> Result<Vec<ListedObject>, StoreError> {
        let listed = self.store.list(Some(&self.place([shard])));
        let met = listed.try_filter_map(|object| async move {
            let rest = object.location.filename().unwrap_or_default();
            let at_ms = u64::try_from(object.last_modified.timestamp_millis()).unwrap_or(0);
            // Objects with other names do not belong to the gateway.
            Ok(format!("{shard}{rest}").parse().ok().map(|key| ListedObject { key, at_ms }))
        });
        met.try_collect().await.map_err(fault)
    }

    fn path(&self, key: &ObjectKey) -> Path {
        self.place([key.shard(), key.rest()])
    }

    fn place<const N: usize>(&self, parts: [&str; N]) -> Path {
        self.prefix.split('/').filter(|part| !part.is_empty()).chain(parts).collect()
    }
}

/// An upload in parts. Parts cost money until they are completed or aborted, so dropping it aborts them.
struct Parts(Option<WriteMultipart>);

impl Parts {
    async fn put(&mut self, chunk: Bytes) -> Result<(), StoreError> {
        if let Some(upload) = &mut self.0 {
            upload.wait_for_capacity(PARTS_AT_ONCE).await.map_err(fault)?;
            upload.put(chunk);
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<(), StoreError> {
        match self.0.take() {
            Some(upload) => upload.finish().await.map(drop).map_err(fault),
            None => Ok(()),
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if let (Some(upload), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(async move {
                if let Err(error) = upload.abort().await {
                    tracing::warn!(%error, "the parts of a broken upload are still in the bucket");
                }
            });
        }
    }
}

fn missing(key: &ObjectKey, error: object_store::Error) -> StoreError {
    match error {
        object_store::Error::NotFound { .. } => StoreError::NoObject(key.to_string()),
        error => fault(error),
    }
}

fn fault(error: object_store::Error) -> StoreError {
    StoreError::Objects { why: Box::new(error) }
}
