//! Finding and ending every process that a run has started.

use std::io;

use rustix::process::{Pid, Signal};

/// Makes this process the reaper of its orphaned descendants, so that none is lost when a supervisor dies. Called once
/// when the gateway starts; does nothing outside of Linux.
pub fn become_subreaper() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Signals each process; one that has ended is skipped.
pub(crate) fn signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        let _ = rustix::process::kill_process(*process, signal);
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{descendants, end_marked, program_and_others};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::time::Duration;

    use rustix::process::{Pid, Signal, WaitOptions};

    use crate::process::RUN_MARK;

    /// Every process below `root`, children first to last.
    pub(crate) fn descendants(root: Pid) -> Vec<Pid> {
        let mut found = Vec::new();
        let mut parents = vec![root];
        while let Some(parent) = parents.pop() {
            let Some(children) = listed_children(parent) else {
                return descendants_by_scan(root);
            };
            // The tree changes while we walk it: never follow a reused id in a circle.
            for child in children {
                if child != root && !found.contains(&child) {
                    found.push(child);
                    parents.push(child);
                }
            }
        }
        found
    }

    /// The program below a supervisor, and every other living process that came of it. The kernel lists the children
    /// of a process in the order in which they became its own, so the program is the first: all others came of it.
    pub(crate) fn program_and_others(supervisor: Pid, isolated: bool) -> Option<(Pid, Vec<Pid>)> {
        let first = |parent: Pid| listed_children(parent)?.first().copied();
        let reaper = if isolated { first(supervisor)? } else { supervisor };
        let program = first(reaper)?;
        // In this order: a process whose parent ends meanwhile goes from below the program to the reaper.
        let mut others = descendants(program);
        for orphan in listed_children(reaper)?.into_iter().filter(|child| *child != program) {
            others.push(orphan);
            others.extend(descendants(orphan));
        }
        others.retain(|process| !is_zombie(*process));
        Some((program, others))
    }

    /// Whether a process is a zombie.
    fn is_zombie(process: Pid) -> bool {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"));
        // The state follows the name in parentheses, which may hold any character.
        let state = stat
            .as_deref()
            .ok()
            .and_then(|stat| stat.rsplit_once(')')?.1.split_ascii_whitespace().next());
        matches!(state, None | Some("Z" | "X"))
    }

    /// The kernel's own list; `None` where the kernel keeps none.
    fn listed_children(parent: Pid) -> Option<Vec<Pid>> {
        let mut children = Vec::new();
        let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
            return Some(children);
        };
        for thread in threads.flatten() {
            match fs::read_to_string(thread.path().join("children")) {
                Ok(list) => children.extend(list.split_ascii_whitespace().filter_map(pid)),
                Err(_) if thread.path().exists() => return None,
                Err(_) => {}
            }
        }
        Some(children)
    }

    pub(super) fn descendants_by_scan(root: Pid) -> Vec<Pid> {
        let parents: Vec<(Pid, Pid)> =
            all().filter_map(|process| Some((process, parent_of(process)?))).collect();
        let mut found = vec![root];
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            let children = parents.iter().filter(|(_, its)| *its == parent).map(|(child, _)| child);
            let new: Vec<Pid> = children.filter(|child| !found.contains(child)).copied().collect();
            found.extend(new);
            next += 1;
        }
        found.split_off(1)
    }

    /// Kills and reaps what carries the mark of a run whose supervisor is gone. A process may
    /// have cleared its environment; only a process namespace contains such a process.
    pub(crate) fn end_marked(run: &str) {
        let mark = format!("{RUN_MARK}={run}");
        for process in all() {
            let Ok(environment) = fs::read(format!("/proc/{process}/environ")) else { continue };
            if environment.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes()) {
                let _ = rustix::process::kill_process(process, Signal::KILL);
                reap(process);
            }
        }
    }

    /// An orphan that became our child stays a zombie until we ask for it.
    fn reap(process: Pid) {
        for _ in 0..20 {
            match rustix::process::waitpid(Some(process), WaitOptions::NOHANG) {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }

    fn all() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| pid(entry.file_name().to_str()?))
    }

    fn parent_of(process: Pid) -> Option<Pid> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name in parentheses may hold spaces and parentheses of its own.
        let (_, rest) = stat.rsplit_once(')')?;
        pid(rest.split_ascii_whitespace().nth(1)?)
    }

    fn pid(text: &str) -> Option<Pid> {
        Pid::from_raw(text.parse().ok().filter(|number| *number > 0)?)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
