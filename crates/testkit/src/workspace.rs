use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

/// The binary under test. Cargo builds it for the tests of its own crate and names it only there.
pub fn powerstrip_binary() -> PathBuf {
    // Test executables lie in `target/<profile>/deps`, programs and the binary one folder up.
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.parent().expect("a program lies in a folder");
    let folder = if folder.ends_with("deps") { folder.parent() } else { Some(folder) };
    let folder = folder.expect("tests run from target/<profile>/deps");
    let binary = folder.join(format!("powerstrip{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is missing: run `cargo build` first", binary.display());
    binary
}

/// A loopback port that the system gives to no other process: a server under test may listen on it, stop and listen again.
/// Connections are refused while no server listens.
pub struct ReservedPort {
    address: SocketAddr,
    /// Bound and never listened on: the system does not pick such a port, and binding to it by number succeeds.
    _socket: TcpSocket,
}

impl ReservedPort {
    /// Reserves a free port.
    pub fn reserve() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("the address can be reused");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
        Self { address: socket.local_addr().expect("an address"), _socket: socket }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

/// Waits until a condition holds; fails the test after a bound that only a hang reaches.
pub async fn eventually<T, F>(what: &str, mut probe: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(value) = probe().await {
            return value;
        }
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}
