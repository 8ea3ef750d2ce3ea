//! Stdio servers written in Python, and a look at the processes they are.

use server_entry::{ServerConfig, Start};

/// A server with these options; see `server.py`.
pub(crate) fn server(options: &[&str]) -> ServerConfig {
    let mut args: Vec<String> =
        ["-I", "-c", include_str!("server.py")].map(str::to_owned).into_iter().collect();
    args.extend(options.iter().map(|&option| option.to_owned()));
    ServerConfig { command: Some("python3".to_owned()), args, ..ServerConfig::default() }
}

pub(crate) fn lazy(options: &[&str]) -> ServerConfig {
    ServerConfig { start: Start::Lazy, ..server(options) }
}

/// A word that only one test's processes carry.
pub(crate) fn needle() -> String {
    format!("needle={}", uuid::Uuid::new_v4())
}

/// Processes, zombies and launchers aside, whose command line holds `needle`.
pub(crate) fn alive(needle: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(needle) && !line.contains("__launch")
    })
    .collect()
}
