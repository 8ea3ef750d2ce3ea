//! The memory that this process may use.

use std::fs;

/// The memory of the machine in bytes, or the limit of the control group if that is lower.
pub(crate) fn available() -> Option<usize> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    // In a container this is the process's own group.
    let group =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| limit_of(&text));
    machine.into_iter().chain(group).min()
}

fn total_of(meminfo: &str) -> Option<usize> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: usize = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// `max` means no limit.
fn limit_of(group: &str) -> Option<usize> {
    group.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_and_cgroup_limits_are_parsed() {
        let text = "MemTotal:       16384 kB\nMemFree:          1 kB\n";
        assert_eq!(total_of(text), Some(16 << 20));
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
        assert_eq!(limit_of("1073741824\n"), Some(1 << 30));
        assert_eq!(limit_of("max\n"), None);
    }
}
