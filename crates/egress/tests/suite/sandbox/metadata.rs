//! Modes, owners, times and attributes of files, which Landlock does not watch.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use egress::process::Spec;
use egress::sandbox::{Mode, Policy, Tier};

use crate::process::support::{confining_rungs, python, run, said};
use crate::sandbox::{REFUSED, attempt};

/// The metadata of a file that must not change. The change time moves with each change of the rest.
fn metadata(path: &Path) -> (u32, i64, i64, i64) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.mode() & 0o7777, metadata.mtime(), metadata.ctime(), metadata.ctime_nsec())
}

#[tokio::test]
async fn metadata_outside_cannot_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "content").unwrap();
    let opened = "os.open(path, os.O_RDONLY)";
    for (tier, runner) in confining_rungs().await {
        for action in [
            "os.chmod(path, 0o666)",
            &format!("os.fchmod({opened}, 0o666)"),
            &format!("os.chmod('/proc/self/fd/%d' % {opened}, 0o666)"),
            "os.chmod(os.path.basename(path), 0, dir_fd=os.open(os.path.dirname(path), 0))",
            "os.utime(path, (5, 5))",
            "os.utime(path)",
            &format!("os.utime({opened}, (5, 5))"),
            "os.chown(path, -1, -1)",
            &format!("os.fchown({opened}, -1, -1)"),
            "os.setxattr(path, 'user.test', os.urandom(8))",
            &format!("os.setxattr({opened}, 'user.test', os.urandom(8))"),
            FCHMODAT2,
        ] {
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            let before = metadata(&file);
            let spec = attempt(action).arg(&file);
            // Readable on purpose: a descriptor opened for reading must not lead to writing.
            let policy = Policy::new().read(folder.path());
            let confined = run(&runner, spec.clone().policy(policy.clone())).await.unwrap();
            assert_eq!(metadata(&file), before, "{tier} {action}");
            // Without namespaces some changes are answered as done, so that programs go on.
            assert!(tier == Tier::T1 || said(&confined) != "done", "{tier} {action}");
            let free = run(&runner, spec.policy(policy.mode(Mode::Off))).await.unwrap();
            let changed = said(&free) == "done" && metadata(&file) != before;
            // A kernel from before 2023 does not know the newest call.
            assert!(changed || action == FCHMODAT2, "{tier} {action} {}", said(&free));
        }
    }
}

const FCHMODAT2: &str =
    "r = ctypes.CDLL(None, use_errno=True).syscall(452, -100, path.encode(), 0o666, 0)
    if r != 0: raise OSError(ctypes.get_errno(), '')";

/// Makes a file with a set-user-ID bit in the folder `path`, in one of many ways, and prints its bits.
fn making_set_id(action: &str) -> Spec {
    attempt(&format!(
        "os.umask(0); file = path + '/file'; mode = 0o6755; libc = ctypes.CDLL(None)\n    \
         {action}\n    print(oct(os.stat(file).st_mode & 0o6000))"
    ))
}

#[tokio::test]
async fn no_file_gets_a_set_id_bit() {
    let plain = "os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o755))";
    let unnamed = "fd = os.open(path, os.O_TMPFILE | os.O_RDWR, mode)\n    \
                   os.link('/proc/self/fd/%d' % fd, file, src_dir_fd=0)";
    for (tier, runner) in confining_rungs().await {
        for action in [
            format!("{plain}; os.chmod(file, mode)"),
            format!("{plain}; os.chmod(file, 0o2755)"),
            format!("{plain}; os.fchmod(os.open(file, os.O_RDONLY), mode)"),
            format!("{plain}; libc.syscall(452, -100, file.encode(), mode, 0)"),
            "os.open(file, os.O_CREAT | os.O_RDWR, mode)".to_owned(),
            "libc.creat(file.encode(), mode)".to_owned(),
            "libc.open(file.encode(), os.O_CREAT | os.O_WRONLY, 0o4755)".to_owned(),
            "os.mknod(file, 0o100000 | mode)".to_owned(),
            unnamed.to_owned(),
        ] {
            // A folder of the host: other users reach it past the mounts of a namespace.
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            let spec = making_set_id(&action).arg(folder.path());
            let policy = Policy::new().write(folder.path());
            let confined = run(&runner, spec.clone().policy(policy.clone())).await.unwrap();
            let bits = fs::metadata(&file).map_or(0, |metadata| metadata.mode() & 0o6000);
            assert_eq!(bits, 0, "{tier} {action} {}", said(&confined));
            let _ = fs::remove_file(&file);
            let free = said(&run(&runner, spec.policy(policy.mode(Mode::Off))).await.unwrap());
            let possible = free.ends_with("done") && !free.contains("0o0");
            assert!(possible || action.contains("452"), "{tier} {action} {free}");
        }
    }
}

#[tokio::test]
async fn metadata_of_writable_files_changes_only_in_a_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import os, sys
for place in ['.', sys.argv[1]]:
    file = place + '/f'
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
    os.chmod(file, 0o711); os.utime(file, (5, 5))
    print(oct(os.stat(file).st_mode & 0o777), os.stat(file).st_mtime == 5)";
    for (tier, runner) in confining_rungs().await {
        let spec = python(script).arg(folder.path()).policy(Policy::new().write(folder.path()));
        let seen = said(&run(&runner, spec).await.unwrap());
        let expected = if tier == Tier::T2 { "0o711 True" } else { "0o600 False" };
        assert_eq!(seen, format!("{expected}\n{expected}"), "{tier}");
        fs::remove_file(folder.path().join("f")).unwrap();
    }
}

#[tokio::test]
async fn programs_that_copy_and_unpack_do_their_work() {
    let shell = "set -e; echo text > one; touch one new; mkdir two; cp one two/; cp -p one two/three; \
                 tar cf all.tar two; rm -r two; tar xf all.tar; chmod 700 two; cat two/three";
    let script = "import shutil; open('a', 'w').write('text'); shutil.copy2(shutil.copy('a', 'b'), 'c')\n\
                  print(open('c').read())";
    for (tier, runner) in confining_rungs().await {
        for spec in [Spec::new("sh").args(["-c", shell]), python(script)] {
            assert_eq!(said(&run(&runner, spec).await.unwrap()), "text", "{tier}");
        }
    }
}

#[tokio::test]
async fn nothing_in_the_private_folder_is_executed() {
    let action = "fd = os.open('run', os.O_CREAT | os.O_WRONLY, 0o755)\n    \
                  os.write(fd, b'#!/bin/sh\\nexit 0\\n'); os.close(fd)\n    \
                  import subprocess; subprocess.run(['./run'], check=True)";
    for (tier, runner) in confining_rungs().await {
        let spec = attempt(action);
        assert_eq!(said(&run(&runner, spec.clone()).await.unwrap()), REFUSED, "{tier}");
        let free = run(&runner, spec.policy(Policy::new().mode(Mode::Off))).await.unwrap();
        assert_eq!(said(&free), "done", "{tier}");
    }
}
