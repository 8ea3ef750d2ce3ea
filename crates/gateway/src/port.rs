//! Finds the process that listens on a port of this machine.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// A process that listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortHolder {
    pub pid: u32,
    pub program: String,
}

impl fmt::Display for PortHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", proto::clean::line(&self.program), self.pid)
    }
}

/// The process that listens on an address, as far as this user may see it: processes of other users stay unknown, as
/// do all where there is no `/proc`.
pub fn find_holder(address: SocketAddr) -> Option<PortHolder> {
    let inodes: HashSet<_> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listening_inodes(&table, address))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.find(|pid| holds(&Path::new("/proc").join(pid.to_string()), &inodes))?;
    let program = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(PortHolder { pid, program: program.trim().to_owned() })
}

/// The inodes of sockets that listen on this address or on all addresses.
fn listening_inodes(table: &str, address: SocketAddr) -> Vec<u64> {
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.get(3) == Some(&LISTENING))
        .filter(|row| row.get(1).is_some_and(|local| is_on(local, address)))
        .filter_map(|row| row.get(9)?.parse().ok())
        .collect()
}

/// Whether a local address such as `0100007F:1E61` has the port, on this interface or on all.
fn is_on(local: &str, address: SocketAddr) -> bool {
    let Some((host, port)) = local.split_once(':') else { return false };
    let same_port = u16::from_str_radix(port, 16) == Ok(address.port());
    let everywhere = host.chars().all(|digit| digit == '0');
    let same_host = match address.ip() {
        // The kernel writes each group of four bytes as a number of its own byte order.
        IpAddr::V4(ip) => {
            let number = u32::from_ne_bytes(ip.octets());
            host == format!("{number:08X}") || host.ends_with(&format!("FFFF0000{number:08X}"))
        }
        IpAddr::V6(ip) => {
            let groups = ip.octets();
            let groups = groups.chunks_exact(4).map(|group| {
                let group = group.try_into().unwrap_or_default();
                format!("{:08X}", u32::from_ne_bytes(group))
            });
            host == groups.collect::<String>()
        }
    };
    same_port && (everywhere || same_host || address.ip().is_unspecified())
}

fn holds(process: &Path, inodes: &HashSet<u64>) -> bool {
    let Ok(files) = fs::read_dir(process.join("fd")) else { return false };
    let mut targets = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    targets.any(|target| {
        let inode = target.to_str().and_then(|text| text.strip_prefix("socket:["));
        let inode = inode.and_then(|text| text.strip_suffix(']')?.parse().ok());
        inode.is_some_and(|inode: u64| inodes.contains(&inode))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::{find_holder, is_on};

    #[test]
    fn the_holder_of_a_port_is_found() {
        for interface in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = TcpListener::bind(interface).unwrap();
            let mut address = listener.local_addr().unwrap();
            address.set_ip([127, 0, 0, 1].into());
            assert_eq!(find_holder(address).unwrap().pid, std::process::id());
            drop(listener);
            assert_eq!(find_holder(address), None);
        }
    }

    #[test]
    fn addresses_are_read_as_the_kernel_writes_them() {
        assert!(is_on("0100007F:1E61", "127.0.0.1:7777".parse().unwrap()));
        assert!(is_on("00000000:1E61", "127.0.0.1:7777".parse().unwrap()));
        assert!(is_on("00000000000000000000000001000000:1E61", "[::1]:7777".parse().unwrap()));
        assert!(!is_on("0200007F:1E61", "127.0.0.1:7777".parse().unwrap()));
        assert!(!is_on("0100007F:1E62", "127.0.0.1:7777".parse().unwrap()));
    }
}
