//! The machine, and the build profile of the measured binary.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde::Serialize;

/// The facts above the table.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    cores: usize,
    cpu: String,
    system: String,
    /// The load average of the last minute before the run.
    load: Option<f64>,
    powerstrip: String,
    /// The folder that Cargo built the gateway into, which is named after the profile.
    profile: Option<String>,
    /// Whether this program, and with it the bare servers, was built without optimisation.
    bench_unoptimised: bool,
}

impl Machine {
    /// Looks at this machine and asks the gateway for its version.
    pub(crate) fn look(binary: &Path) -> anyhow::Result<Self> {
        let output = Command::new(binary)
            .arg("--version")
            .output()
            .with_context(|| format!("{} cannot be started", binary.display()))?;
        ensure!(output.status.success(), "{} does not tell its version", binary.display());
        Ok(Self {
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            cpu: cpu().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            system: system(),
            load: load(),
            powerstrip: first_line(&output.stdout),
            profile: profile(binary),
            bench_unoptimised: cfg!(debug_assertions),
        })
    }

    fn unoptimised(&self) -> bool {
        self.bench_unoptimised || self.profile.as_deref() == Some("debug")
    }
}

fn first_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_owned()
}

/// Cargo names the folder of a binary after its profile.
fn profile(binary: &Path) -> Option<String> {
    let real = binary.canonicalize().ok()?;
    let folder = real.parent()?.file_name()?.to_str()?;
    ["debug", "release", "dist"].contains(&folder).then(|| folder.to_owned())
}

fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn system() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned()
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cores, {}, {}. {}, profile {}.",
            self.cores,
            self.cpu,
            self.system,
            self.powerstrip,
            self.profile.as_deref().unwrap_or("unknown")
        )?;
        if let Some(load) = self.load {
            write!(f, " Load before the run: {load:.1}.")?;
        }
        if self.unoptimised() {
            write!(f, "\n**Not optimised: these figures say nothing about speed.**")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::profile;

    #[test]
    fn the_profile_is_read_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for (name, expected) in [("release", Some("release")), ("bin", None)] {
            let binary = folder.path().join(name).join("powerstrip");
            std::fs::create_dir(binary.parent().unwrap()).unwrap();
            assert_eq!(profile(&binary), None, "there is no binary yet");
            std::fs::write(&binary, "").unwrap();
            assert_eq!(profile(&binary).as_deref(), expected);
        }
    }
}
