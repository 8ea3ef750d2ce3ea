//! Opening a TCP connection to the first of several checked addresses that answers.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;

/// The delay before the next address is tried in parallel (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to one of `addresses`, which must not be empty, and says which.
pub(super) async fn dial(addresses: &[SocketAddr]) -> io::Result<(TcpStream, SocketAddr)> {
    let mut waiting = addresses.iter().copied();
    let mut attempts = FuturesUnordered::new();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(address) = waiting.next() {
            attempts.push(connect(address));
        }
        if attempts.is_empty() {
            return Err(failure);
        }
        tokio::select! {
            Some(outcome) = attempts.next() => match outcome {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = error,
            },
            () = tokio::time::sleep(HEAD_START), if waiting.len() > 0 => {}
        }
    }
}

async fn connect(address: SocketAddr) -> io::Result<(TcpStream, SocketAddr)> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok((stream, address))
}

/// Alternates IPv6 and IPv4, so that a broken family costs one delay and not ten.
pub(super) fn in_turn(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let (six, four): (Vec<_>, Vec<_>) = addresses.into_iter().partition(SocketAddr::is_ipv6);
    let mut mixed = Vec::with_capacity(six.len() + four.len());
    let (mut six, mut four) = (six.into_iter(), four.into_iter());
    loop {
        let pair = [six.next(), four.next()];
        if pair == [None, None] {
            return mixed;
        }
        mixed.extend(pair.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests;
