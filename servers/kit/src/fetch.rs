//! Downloads: a URL of a caller becomes a scratch file, so that programs get files and never URLs.

mod scratch;

use std::io;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use egress::http::{
    AddressPolicy, Client, FetchError, Limits, OwnListeners, Refusal, Request, Rule, Scope, Target,
};
use futures_util::StreamExt as _;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, timeout, timeout_at};

use self::scratch::ScratchFile;
use crate::{Code, Fault};

/// The longest URL; signed ones have about 1,000 characters.
const MAX_URL: usize = 8192;

/// The time for one download, from the first packet to the last.
const DEADLINE: Duration = Duration::from_secs(30 * 60);

/// Within this time a host must answer, and then send [`MIN_BYTES`] again and again: a download that is still would
/// hold up those that wait.
const STALL: Duration = Duration::from_secs(60);

const MIN_BYTES: u64 = 256 << 10;

/// Flags of servers that download files; see [`crate::Server::fetches`].
#[derive(Debug, Clone, Args)]
pub struct FetchOptions {
    /// Largest download in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 2_000_000_000)]
    pub max_download: u64,

    /// Download from this host of a private network too, such as 127.0.0.1:7777 or minio.local:9000; repeatable. The
    /// gateway of --gateway is allowed anyway
    #[arg(long = "allow", value_name = "HOST[:PORT]")]
    pub allow: Vec<String>,
}

/// A downloaded file, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Fetched {
    file: ScratchFile,
    /// In bytes.
    pub size: u64,
}

impl Fetched {
    /// Where the file is. A program reads it if its task says so ([`crate::Task::reads`]).
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Downloads under the rules of the flags.
pub(crate) struct Fetcher {
    client: Client,
    max_bytes: u64,
    stall: Duration,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("max_bytes", &self.max_bytes).finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Checks the flags; the error names the wrong one.
    pub(crate) fn new(options: &FetchOptions, gateway: Option<&str>) -> Result<Self, String> {
        let mut rules = Vec::new();
        for entry in &options.allow {
            rules.push(entry.parse::<Rule>().map_err(|error| format!("--allow {error}"))?);
        }
        if let Some(gateway) = gateway {
            let target = Target::parse(gateway).map_err(|why| format!("--gateway: {why}"))?;
            let place = format!("{}:{}", target.host(), target.port());
            rules.push(place.parse::<Rule>().map_err(|error| format!("--gateway {error}"))?);
        }
        let client = Client::new(AddressPolicy::new(rules, OwnListeners::default()))
            .map_err(|error| format!("no HTTP client: {error}"))?;
        scratch::remove_leftovers();
        Ok(Self { client, max_bytes: options.max_download, stall: STALL })
    }

    /// Downloads a file. `report` is called with the part that has arrived, from 0 to 1, if the size is known.
    pub(crate) async fn fetch(
        &self,
        url: &str,
        report: impl Fn(f64) + Send,
    ) -> Result<Fetched, Fault> {
        if url.len() > MAX_URL {
            return Err(refuse("the URL is too long"));
        }
        let limits = Limits {
            deadline: Some(DEADLINE),
            max_body_bytes: self.max_bytes,
            ..Limits::default()
        };
        let mut request = Request::get(url);
        // Videos do not become smaller, and a packed answer has no known size.
        request.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let scope = Scope::everything();
        let answer = timeout(self.stall, self.client.stream(request, &limits, &scope)).await;
        let mut answer =
            answer.map_err(|_elapsed| self.stalled())?.map_err(|error| self.fault(&error))?;
        check_status(answer.status)?;
        let length = answer.headers.get(CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let file = crate::blocking(ScratchFile::create).await?.map_err(|error| disk(&error))?;
        let mut writer = tokio::fs::File::from_std(file.handle().map_err(|error| disk(&error))?);
        let mut size: u64 = 0;
        let (mut until, mut enough) = (Instant::now() + self.stall, MIN_BYTES);
        while let Some(chunk) =
            timeout_at(until, answer.body.next()).await.map_err(|_elapsed| self.stalled())?
        {
            let chunk = chunk.map_err(|error| self.fault(&error))?;
            writer.write_all(&chunk).await.map_err(|error| disk(&error))?;
            size += chunk.len() as u64;
            if size >= enough {
                (until, enough) = (Instant::now() + self.stall, size + MIN_BYTES);
            }
            if let Some(length) = length.filter(|length| *length > 0) {
                report((size as f64 / length as f64).min(1.0));
            }
        }
        writer.flush().await.map_err(|error| disk(&error))?;
        if size == 0 {
            return Err(refuse("the file at the URL is empty"));
        }
        Ok(Fetched { file, size })
    }

    fn stalled(&self) -> Fault {
        let seconds = self.stall.as_secs();
        let message = format!(
            "the host of the URL sends too slowly: it must send {MIN_BYTES} bytes every {seconds} s; try again later, or \
             from another host"
        );
        Fault::new(Code::Timeout, message).details(json!({"reason": "stalled"}))
    }

    /// Messages have neither the URL nor what it leads to: a signed URL is a secret, and addresses are none of the
    /// caller's business.
    fn fault(&self, error: &FetchError) -> Fault {
        let reason = |fault: Fault, reason: &str| fault.details(json!({"reason": reason}));
        match error {
            FetchError::Refused(refusal) => reason(refuse(explain(refusal)), "refused"),
            FetchError::Resolve { .. } => {
                reason(refuse("the host of the URL has no address"), "unknown_host")
            }
            FetchError::Timeout { after, .. } => Fault::new(
                Code::Timeout,
                format!("the download took longer than {} s", after.as_secs()),
            ),
            FetchError::TooLarge { .. } => {
                let limit = self.max_bytes;
                let message = format!(
                    "the file at the URL is larger than {limit} bytes; send a shorter one, or start the server with a \
                     larger --max-download"
                );
                refuse(message).details(json!({"reason": "too_large", "limit": limit}))
            }
            FetchError::Connect { .. } | FetchError::Tls { .. } => {
                Fault::unavailable("the host of the URL cannot be reached; try again later")
            }
            FetchError::Protocol { .. } => Fault::unavailable("the download broke off; try again"),
            FetchError::Redirected(error) => self.fault(error),
        }
    }
}

fn refuse(why: impl Into<String>) -> Fault {
    let why = why.into();
    let errors = json!([{"path": "/input_url", "reason": why}]);
    Fault::invalid_input(format!("/input_url: {why}")).details(json!({"errors": errors}))
}

fn explain(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Url(_) => "it is not an absolute URL",
        Refusal::Scheme(_) => "only http and https URLs are downloaded",
        Refusal::Userinfo => "the URL has a user name or password in it; use a signed URL",
        Refusal::Address { .. } | Refusal::OwnListener { .. } | Refusal::Peer { .. } => {
            "it, or where it redirects to, is in a private network; the server's flag --allow HOST:PORT opens one"
        }
        Refusal::Redirects { .. } => "it redirects too often",
        Refusal::Scope { .. } | Refusal::Method(_) | Refusal::Header(_) => "it cannot be requested",
    }
}

fn check_status(status: StatusCode) -> Result<(), Fault> {
    if status.is_success() && status != StatusCode::NO_CONTENT {
        return Ok(());
    }
    let code = status.as_u16();
    let details = json!({"status": code});
    Err(match code {
        401 | 403 | 404 | 410 => refuse(format!(
            "the host answers {code}: the link may have expired; get a new one and call again"
        ))
        .details(details),
        _ => {
            let message = format!("the host of the URL answers {code}");
            Fault::new(Code::of_http(code), message).details(details)
        }
    })
}

/// The fault of a temporary file that cannot be written. The path stays in the log: it names a user of this machine.
pub(crate) fn disk(error: &io::Error) -> Fault {
    tracing::warn!(%error, "a temporary file could not be written");
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::unavailable(
            "the disk for temporary files is full; free space there, or set TMPDIR to another folder",
        ),
        _ => Fault::unavailable("no temporary file can be written on the server"),
    }
}

#[cfg(test)]
mod tests;
