use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use doors::{LocalDoor, SocketDoor};
use remote::LspClient;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use crate::support::{TIMEOUT, settings, strip};

#[tokio::test]
async fn local_processes_share_one_strip_over_the_socket() {
    let (strip, mut gate, folder) = strip(settings()).await;
    let path = folder.path().join("powerstrip.sock");
    let socket = SocketDoor::bind(&path).await.unwrap();
    assert_eq!(socket.path(), path);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let shutdown = CancellationToken::new();
    let user = auth::LocalAccess::default().user();
    let door = LocalDoor::new(Arc::clone(&strip), user, shutdown.clone());
    let served = tokio::spawn(socket.serve(door, shutdown.clone(), Duration::from_secs(5)));

    let clients: Vec<_> = (0..20)
        .map(|number| {
            let path = path.clone();
            tokio::spawn(async move {
                let client = LspClient::connect(UnixStream::connect(path).await.unwrap());
                let params = json!({"tool": "test.echo", "input": {"n": number}});
                let envelope = client.request("mcp.tool.invoke", params).await.unwrap();
                assert_eq!(envelope["data"], json!({"n": number}));
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }

    let mut mcp = BufReader::new(UnixStream::connect(&path).await.unwrap());
    mcp.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    let mut line = String::new();
    mcp.read_line(&mut line).await.unwrap();
    assert!(line.contains("\"id\":1"));

    // The running call is finished; the listener and its file are removed.
    let client = LspClient::connect(UnixStream::connect(&path).await.unwrap());
    let slow = tokio::spawn(async move {
        client.request("mcp.tool.invoke", json!({"tool": "test.slow"})).await.unwrap()
    });
    gate.begun.recv().await.unwrap();
    shutdown.cancel();
    gate.open.add_permits(1);
    assert_eq!(slow.await.unwrap()["ok"], json!(true));
    tokio::time::timeout(TIMEOUT, served).await.unwrap().unwrap().unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_session_that_does_not_end_is_aborted() {
    let (strip, mut gate, folder) = strip(settings()).await;
    let path = folder.path().join("s");
    let shutdown = CancellationToken::new();
    let door = LocalDoor::new(strip, auth::LocalAccess::default().user(), shutdown.clone());
    let socket = SocketDoor::bind(&path).await.unwrap();
    let served = tokio::spawn(socket.serve(door, shutdown.clone(), Duration::from_millis(50)));
    let client = LspClient::connect(UnixStream::connect(&path).await.unwrap());
    let (cut, ()) =
        tokio::join!(client.request("mcp.tool.invoke", json!({"tool": "test.slow"})), async {
            gate.begun.recv().await.unwrap();
            shutdown.cancel();
        });
    assert!(cut.is_err());
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let live = SocketDoor::bind(&path).await.unwrap();
    let second = SocketDoor::bind(&path).await.err().unwrap();
    assert_eq!(second.kind(), std::io::ErrorKind::AddrInUse);
    drop(live);
    std::fs::write(&path, "precious").unwrap();
    let occupied = SocketDoor::bind(&path).await.err().unwrap();
    assert_eq!(occupied.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

/// A request in LSP framing, without a client that would cancel it.
fn frame(id: u64, tool: &str) -> Vec<u8> {
    let request =
        json!({"jsonrpc": "2.0", "id": id, "method": "mcp.tool.invoke", "params": {"tool": tool}});
    let request = request.to_string();
    format!("Content-Length: {}\r\n\r\n{request}", request.len()).into_bytes()
}

#[tokio::test]
async fn a_caller_that_hangs_up_cancels_its_call_and_one_that_stops_sending_does_not() {
    let (strip, mut gate, folder) = strip(settings()).await;
    let path = folder.path().join("s");
    let shutdown = CancellationToken::new();
    let door = LocalDoor::new(strip, auth::LocalAccess::default().user(), shutdown.clone());
    let socket = SocketDoor::bind(&path).await.unwrap();
    let served = tokio::spawn(socket.serve(door, shutdown.clone(), Duration::from_secs(5)));

    let mut gone = UnixStream::connect(&path).await.unwrap();
    gone.write_all(&frame(1, "test.slow")).await.unwrap();
    gate.begun.recv().await.unwrap();
    drop(gone);
    tokio::time::timeout(TIMEOUT, gate.cancelled.recv()).await.unwrap().unwrap();

    let mcp = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "test_slow", "arguments": {}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"}, "io.modelcontextprotocol/clientCapabilities": {}}}});
    let mut gone = UnixStream::connect(&path).await.unwrap();
    gone.write_all(format!("{mcp}\n").as_bytes()).await.unwrap();
    gate.begun.recv().await.unwrap();
    drop(gone);
    tokio::time::timeout(TIMEOUT, gate.cancelled.recv()).await.unwrap().unwrap();

    let mut reads = UnixStream::connect(&path).await.unwrap();
    reads.write_all(&frame(2, "test.slow")).await.unwrap();
    reads.shutdown().await.unwrap();
    gate.begun.recv().await.unwrap();
    gate.open.add_permits(1);
    let mut answer = String::new();
    reads.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("\"ok\":true"), "{answer}");

    // It stops sending first, and leaves later.
    let mut gone = UnixStream::connect(&path).await.unwrap();
    gone.write_all(&frame(3, "test.slow")).await.unwrap();
    gone.shutdown().await.unwrap();
    gate.begun.recv().await.unwrap();
    drop(gone);
    tokio::time::timeout(TIMEOUT, gate.cancelled.recv()).await.unwrap().unwrap();
    shutdown.cancel();
    tokio::time::timeout(TIMEOUT, served).await.unwrap().unwrap().unwrap();
}
