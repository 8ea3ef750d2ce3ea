//! A recording server, a scripted resolver, and a client that knows both.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use egress::http::{
    AddressPolicy, Client, FetchError, Limits, OwnListeners, Request, Resolve, ResolveFuture,
    Response, Scope,
};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;

pub(crate) type Reply = http::Response<UnsyncBoxBody<Bytes, Infallible>>;

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

#[derive(Default)]
pub(crate) struct Record {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
}

/// A server on a free loopback port that writes down what it is asked.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    record: Arc<Record>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let record = Arc::new(Record::default());
        let (record_, answer) = (Arc::clone(&record), Arc::new(answer));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                record_.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&record_), Arc::clone(&answer)));
            }
        });
        Self { address, record }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.record.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.record.connections.load(Ordering::SeqCst)
    }
}

pub(crate) async fn serve<S, F>(stream: S, record: Arc<Record>, answer: Arc<F>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    F: Fn(&Seen) -> Reply + Send + Sync + 'static,
{
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (record, answer) = (Arc::clone(&record), Arc::clone(&answer));
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let target = head.uri.path_and_query().unwrap().to_string();
            let seen = Seen { method: head.method, target, headers: head.headers, body };
            record.seen.lock().unwrap().push(seen.clone());
            Ok::<_, Infallible>(answer(&seen))
        }
    });
    // A client that hangs up in the middle is what several tests are about.
    let _ = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

pub(crate) fn reply(status: u16, body: impl Into<Bytes>) -> Reply {
    let mut reply = http::Response::new(Full::new(body.into()).boxed_unsync());
    *reply.status_mut() = StatusCode::from_u16(status).unwrap();
    reply
}

pub(crate) fn redirect(status: u16, location: &str) -> Reply {
    let mut reply = reply(status, "moved");
    reply.headers_mut().insert("location", location.parse().unwrap());
    reply
}

/// Answers from a script: each lookup of a name takes the next answer, the last one stays.
#[derive(Default)]
pub(crate) struct Script {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: Mutex<HashMap<String, usize>>,
}

impl Script {
    pub(crate) fn name(mut self, name: &str, answers: &[&[&str]]) -> Self {
        let answers = answers
            .iter()
            .map(|answer| answer.iter().map(|ip| ip.parse().unwrap()).collect())
            .collect();
        self.answers.insert(name.to_owned(), answers);
        self
    }

    pub(crate) fn asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap().get(name).copied().unwrap_or(0)
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        let mut asked = self.asked.lock().unwrap();
        let count = asked.entry(name.to_owned()).or_default();
        let answer =
            self.answers.get(name).map(|answers| answers[(*count).min(answers.len() - 1)].clone());
        *count += 1;
        Box::pin(async move { answer.ok_or_else(|| std::io::Error::other("no such name")) })
    }
}

pub(crate) fn policy(allow: &[&str]) -> AddressPolicy {
    AddressPolicy::new(
        allow.iter().map(|rule| rule.parse().unwrap()).collect(),
        OwnListeners::default(),
    )
}

pub(crate) fn client(allow: &[&str]) -> Client {
    scripted(allow, &Arc::new(Script::default()))
}

pub(crate) fn scripted(allow: &[&str], script: &Arc<Script>) -> Client {
    let resolver: Arc<dyn Resolve> = Arc::clone(script) as _;
    Client::builder(policy(allow)).resolver(resolver).build().unwrap()
}

pub(crate) async fn get(client: &Client, url: &str) -> Result<Response, FetchError> {
    client.send(Request::get(url), &Limits::default(), &Scope::everything()).await
}

pub(crate) async fn get_within(
    client: &Client,
    url: &str,
    limits: &Limits,
) -> Result<Response, FetchError> {
    client.send(Request::get(url), limits, &Scope::everything()).await
}
