use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use store::{Claim, DataFolder, StoreError};

use crate::process::Player;

fn owner(path: &Path) -> DataFolder {
    match DataFolder::claim(path).unwrap() {
        Claim::Owner(folder) => folder,
        Claim::OwnedBy { pid } => panic!("{} belongs to {pid:?}", path.display()),
    }
}

fn owned_by(path: &Path) -> Option<u32> {
    match DataFolder::claim(path).unwrap() {
        Claim::Owner(_) => panic!("{} should belong to someone", path.display()),
        Claim::OwnedBy { pid } => pid,
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn one_owner_at_a_time() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("made").join("on the way");
    let first = owner(&path);
    assert_eq!(first.path(), path);
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("lock")), 0o600);
    for _ in 0..3 {
        assert_eq!(owned_by(&path), Some(std::process::id()));
    }
    drop(first);
    let second = owner(&path);
    assert_eq!(owned_by(&path), Some(std::process::id()));
    drop(second);
}

#[test]
fn a_killed_owner_leaves_the_folder_free() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Player::start("own_until_killed", folder.path(), None);
    assert_eq!(child.says().as_deref(), Some("true"));
    assert_eq!(owned_by(folder.path()), Some(child.pid()));
    child.kill();
    let owned = owner(folder.path());
    assert_eq!(owned_by(owned.path()), Some(std::process::id()), "not the pid of the dead one");
}

#[test]
fn an_odd_lock_file_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lock"), "not a pid, and longer than any pid could ever be")
        .unwrap();
    let owned = owner(folder.path());
    assert_eq!(owned_by(owned.path()), Some(std::process::id()));
}

#[test]
fn folders_of_ours_are_closed_to_others_and_foreign_ones_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let path = parent.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    };
    let empty = open("empty");
    owner(&empty);
    assert_eq!(mode(&empty), 0o700);

    fs::set_permissions(&empty, Permissions::from_mode(0o777)).unwrap();
    owner(&empty);
    assert_eq!(mode(&empty), 0o700, "it holds our lock file");
    assert_eq!(fs::read_to_string(empty.join(".gitignore")).unwrap(), "*\n");

    let foreign = open("foreign");
    fs::write(foreign.join("someone's file"), "").unwrap();
    owner(&foreign);
    assert_eq!(mode(&foreign), 0o755);
    assert_eq!(mode(&foreign.join("lock")), 0o600);
    assert!(!foreign.join(".gitignore").exists(), "Git may follow its files");
}

#[test]
fn claiming_a_file_as_the_data_folder_fails() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = DataFolder::claim(file.path()).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    let inside = DataFolder::claim(&file.path().join("below")).unwrap_err();
    assert!(inside.to_string().contains("below"), "{inside}");
}
