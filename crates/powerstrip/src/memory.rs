//! The memory of the machine, as far as this process may use it.

use std::fs;

/// The memory in bytes that this process may use: that of the machine, or less if its control group has a limit.
pub(crate) fn available() -> Option<usize> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    // A process in a container sees its own group here.
    let group =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| limit_of(&text));
    machine.into_iter().chain(group).min()
}

fn total_of(meminfo: &str) -> Option<usize> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: usize = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// A group without a limit says `max`.
fn limit_of(group: &str) -> Option<usize> {
    group.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read() {
        let text = "MemTotal:       16384 kB\nMemFree:          1 kB\n";
        assert_eq!(total_of(text), Some(16 << 20));
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
        assert_eq!(limit_of("1073741824\n"), Some(1 << 30));
        assert_eq!(limit_of("max\n"), None);
    }
}
