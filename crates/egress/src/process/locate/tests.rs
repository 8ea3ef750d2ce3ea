use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::{Locator, installation, prefix, shebang};
use crate::process::RunError;

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn locator(folder: &Path) -> Locator {
    Locator::from_path(Some(OsString::from(folder)))
}

#[tokio::test]
async fn names_are_looked_up_and_files_that_cannot_run_are_passed_over() {
    let root = tempfile::tempdir().unwrap();
    script(&root.path().join("tool"), "#!/bin/sh\n");
    fs::write(root.path().join("notes"), "text").unwrap();
    fs::create_dir(root.path().join("folder")).unwrap();
    let locator = locator(root.path());

    let found = locator.locate(OsStr::new("tool")).await.unwrap();
    assert_eq!(found, root.path().join("tool"));
    for missing in ["", "notes", "folder", "nothing", "./nothing", "/nowhere/at/all"] {
        let error = locator.locate(OsStr::new(missing)).await.unwrap_err();
        assert!(matches!(error, RunError::NotFound { program } if program == missing), "{missing}");
    }
}

#[tokio::test]
async fn a_shim_resolves_to_the_program_of_its_manager() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join(".someenv");
    let real = home.join("versions/3/bin/lang");
    script(&real, "#!/bin/sh\n");
    script(&home.join("shims/lang"), "#!/bin/sh\nexit 1\n");
    script(&home.join("shims/broken"), "#!/bin/sh\nexit 1\n");
    let answer = format!("#!/bin/sh\n[ \"$2\" = lang ] && echo {}\n", real.display());
    script(&home.join("bin/someenv"), &answer);

    let locator = locator(&home.join("shims"));
    assert_eq!(locator.locate(OsStr::new("lang")).await.unwrap(), real);
    let broken = locator.locate(OsStr::new("broken")).await.unwrap();
    assert_eq!(broken, home.join("shims/broken"));
}

#[test]
fn an_installation_is_its_prefix_on_each_hop() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    script(&root.join("python/bin/python3"), "");
    fs::create_dir_all(root.join("venv/bin")).unwrap();
    symlink("../../python/bin/python3", root.join("venv/bin/python")).unwrap();
    script(&root.join("venv/bin/tool"), &format!("#!{}/venv/bin/python\n", root.display()));

    let parts = installation(&root.join("venv/bin/tool"), &Locator::from_path(None));
    for part in ["venv", "python"] {
        assert!(parts.contains(&root.join(part)), "{part} in {parts:?}");
    }
    assert!(!parts.contains(&root));
}

#[test]
fn a_home_is_no_installation() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap().join("home");
    for program in ["bin/tool", ".local/bin/tool", "other/bin/tool", "app/bin/tool"] {
        script(&home.join(program), "");
    }
    fs::create_dir(home.join("other/.ssh")).unwrap();

    let of = |program: &str| prefix(&home.join(program), Some(&home));
    assert_eq!(of("bin/tool"), None);
    assert_eq!(of(".local/bin/tool"), None);
    assert_eq!(of("other/bin/tool"), None);
    assert_eq!(of("app/bin/tool"), Some(home.join("app")));
    assert_eq!(prefix(Path::new("/bin/sh"), None).filter(|path| path == Path::new("/")), None);
}

#[test]
fn first_lines_name_interpreters() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("script");
    let of = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        shebang(&path).map(PathBuf::from)
    };
    assert_eq!(of(b"#!/usr/bin/python3 -u\n"), Some("/usr/bin/python3".into()));
    assert_eq!(of(b"#! /usr/bin/env -S A=b node --x\n"), Some("node".into()));
    assert_eq!(of(b"\x7fELF"), None);
    assert_eq!(of(b"#!"), None);
    assert_eq!(of(b""), None);
}
