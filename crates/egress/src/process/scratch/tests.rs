use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::{Scratch, open_folder};

/// Runs `work` on a thread without capabilities, so that modes bind a test run by root, too.
fn without_powers<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            #[cfg(target_os = "linux")]
            {
                use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
                let none = CapabilitySet::empty();
                let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
                set_capabilities(None, sets).unwrap();
            }
            work()
        });
        thread.join().unwrap()
    })
}

fn close(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_without_rights_is_removed() {
    let base = tempfile::tempdir().unwrap();
    let outside = base.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "kept").unwrap();
    close(&outside, 0o500);
    without_powers(|| {
        let scratch = Scratch::create(base.path()).unwrap();
        let own = scratch.path().to_owned();
        fs::create_dir_all(own.join("a/b/c")).unwrap();
        fs::write(own.join("a/b/c/file"), "x").unwrap();
        fs::write(own.join("a/file"), "x").unwrap();
        symlink(&outside, own.join("a/link")).unwrap();
        for folder in ["a/b/c", "a/b", "a", ""] {
            close(&own.join(folder), 0);
        }
        assert!(fs::remove_dir_all(&own).is_err(), "modes do not bind this test");
        drop(scratch);
        assert!(!own.exists());
    });
    // A link is removed, not followed.
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept");
    assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o500);
    close(&outside, 0o700);
}

#[test]
fn a_folder_deeper_than_any_path_is_removed() {
    let base = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(base.path()).unwrap();
    let mut folder = open_folder(rustix::fs::CWD, c"/").unwrap();
    folder = openat(&folder, scratch.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
    let name = "n".repeat(100);
    for _ in 0..1_500 {
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = openat(&folder, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    drop(folder);
    drop(scratch);
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
}

#[test]
fn an_empty_folder_is_removed_at_once() {
    let base = tempfile::tempdir().unwrap();
    assert!(Scratch::create(base.path()).unwrap().remove_empty().is_none());
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    let full = Scratch::create(base.path()).unwrap();
    fs::write(full.path().join("file"), "").unwrap();
    assert!(full.remove_empty().is_some());
}
