//! nginx as a reverse proxy: no gateway, but the least that anything between a client and a server adds on a machine.

use std::path::Path;

use tokio::process::Command;

use crate::load::Front;
use crate::process::{Process, free_address};

pub(super) async fn start(
    program: &Path,
    home: &Path,
    url: &str,
) -> anyhow::Result<(Process, Front)> {
    let address = free_address()?;
    let server = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
    std::fs::write(home.join("nginx.conf"), config(address.port(), server))?;
    let mut command = Command::new(program);
    command.arg("-p").arg(home).args(["-c", "nginx.conf", "-e", "error.log"]).current_dir(home);
    let process = Process::start_at(command, address, home.join("log")).await?;
    Ok((process, Front::new(address, "echo")))
}

/// As many workers as cores, and connections kept alive on both sides.
fn config(port: u16, server: &str) -> String {
    let folders: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("  {kind}_temp_path {kind};\n"))
        .concat();
    format!(
        "daemon off;\nworker_processes auto;\npid nginx.pid;\nevents {{ worker_connections 1024; }}\nhttp {{\n\
         {folders}  access_log off;\n  keepalive_requests 1000000000;\n\
         \x20 upstream up {{ server {server}; keepalive 128; keepalive_requests 1000000000; }}\n\
         \x20 server {{\n    listen 127.0.0.1:{port};\n    location / {{\n      proxy_pass http://up;\n\
         \x20     proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n    }}\n  }}\n}}\n"
    )
}

/// Reads what `nginx -v` prints.
pub(super) fn version(text: &str) -> Option<String> {
    let version =
        text.lines().find_map(|line| line.trim().strip_prefix("nginx version: nginx/"))?;
    Some(format!(" {}", version.split_whitespace().next()?))
}

#[cfg(test)]
mod tests {
    use super::{config, version};

    #[test]
    fn the_version_is_read() {
        assert_eq!(version("nginx version: nginx/1.22.1\n").as_deref(), Some(" 1.22.1"));
        assert_eq!(version("Usage: nginx [-?hvVtTq]"), None);
    }

    #[test]
    fn connections_are_kept_on_both_sides() {
        let text = config(4_321, "127.0.0.1:81");
        assert!(text.contains("listen 127.0.0.1:4321;"), "{text}");
        assert!(text.contains("upstream up { server 127.0.0.1:81; keepalive 128;"), "{text}");
        assert!(text.contains("  proxy_temp_path proxy;\n"), "{text}");
    }
}
