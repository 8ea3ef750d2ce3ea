use std::os::unix::fs::symlink;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_keeps_its_mode_unless_it_contains_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let file = UserFile::find(&path).unwrap();
    assert_eq!(file.read_text(10).unwrap(), None);
    assert_eq!(file.back_up(10).unwrap(), None);
    assert!(!file.replace(b"1", Access::OwnerOnly).unwrap());
    assert_eq!(mode(&path), 0o600);
    for (before, access, after, narrowed) in [
        (0o644, Access::AsBefore, 0o644, false),
        (0o640, Access::AsBefore, 0o640, false),
        (0o644, Access::OwnerOnly, 0o600, true),
        (0o400, Access::OwnerOnly, 0o400, false),
    ] {
        set_mode(&path, before);
        assert_eq!(file.replace(b"2", access).unwrap(), narrowed);
        assert_eq!(mode(&path), after, "{before:o}");
    }
    assert_eq!(file.read_text(10).unwrap().as_deref(), Some("2"));
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_file_stays_as_it_is_if_the_last_check_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    let file = UserFile::find(&path).unwrap();
    let check = || Err(io::Error::other("changed"));
    let error = file.replace_if(b"new", Access::AsBefore, check).unwrap_err();
    assert_eq!(error.to_string(), "changed");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_link_stays_a_link_and_its_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("real"), "old").unwrap();
    symlink("real", at("link")).unwrap();
    let file = UserFile::find(&at("link")).unwrap();
    let copy = file.back_up(100).unwrap().unwrap();
    file.replace(b"new", Access::AsBefore).unwrap();
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(at("real")).unwrap(), "new");
    assert_eq!(fs::read_to_string(copy).unwrap(), "old");
    assert_eq!(names(folder.path()), ["link", "real", "real.bak"]);
}

#[test]
fn a_link_that_appears_later_is_not_followed() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, target) = (folder.path().join("file"), outside.path().join("target"));
    let file = UserFile::find(&path).unwrap();
    symlink(&target, &path).unwrap();
    assert!(file.read_text(10).is_err());
    assert!(file.replace(b"x", Access::AsBefore).is_err());
    assert!(file.back_up(10).is_err());
    assert_eq!(names(outside.path()), Vec::<String>::new());
    assert_eq!(names(folder.path()), ["file"]);
    // The folder is held open: a folder that takes its place gets nothing.
    let (inner, moved) = (folder.path().join("inner"), folder.path().join("moved"));
    fs::create_dir(&inner).unwrap();
    let file = UserFile::find(&inner.join("file")).unwrap();
    fs::rename(&inner, &moved).unwrap();
    symlink(outside.path(), &inner).unwrap();
    file.replace(b"x", Access::AsBefore).unwrap();
    assert_eq!(names(outside.path()), Vec::<String>::new());
    assert_eq!(names(&moved), ["file"]);
}

#[test]
fn copies_are_private_and_never_written_through_links() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("mcp.json");
    fs::write(&path, "token").unwrap();
    set_mode(&path, 0o644);
    symlink(outside.path().join("stolen"), folder.path().join("mcp.json.bak")).unwrap();
    let file = UserFile::find(&path).unwrap();
    let copy = file.back_up(100).unwrap().unwrap();
    assert_eq!(copy.file_name().unwrap(), "mcp.json.bak1");
    assert_eq!((fs::read_to_string(&copy).unwrap().as_str(), mode(&copy)), ("token", 0o600));
    assert_eq!(names(outside.path()), Vec::<String>::new());
}

#[test]
fn owner_and_group_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "1").unwrap();
    set_mode(&path, 0o640);
    // Root gives the file to anyone; others give it to another group of theirs.
    let before = fs::metadata(&path).unwrap();
    let groups = rustix::process::getgroups().unwrap();
    let other = groups.iter().map(|group| group.as_raw()).find(|group| *group != before.gid());
    let (owner, group) = match (rustix::process::geteuid().is_root(), other) {
        (true, _) => (12_345, 12_346),
        (false, Some(group)) => (before.uid(), group),
        (false, None) => return testkit::skip_without("root, or a user who has a second group"),
    };
    std::os::unix::fs::chown(&path, Some(owner), Some(group)).unwrap();
    UserFile::find(&path).unwrap().replace(b"2", Access::AsBefore).unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.uid(), after.gid(), mode(&path)), (owner, group, 0o640));
}

#[test]
fn an_existing_file_is_not_created_again() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("file");
    create_new(&path, b"1").unwrap();
    let taken = create_new(&path, b"2").unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    symlink(outside.path().join("x"), folder.path().join("link")).unwrap();
    assert!(create_new(&folder.path().join("link"), b"2").is_err());
    assert!(open_private(&folder.path().join("link")).is_err());
    open_private(&folder.path().join("private")).unwrap();
    assert_eq!(mode(&folder.path().join("private")), 0o600);
    assert_eq!(names(outside.path()), Vec::<String>::new());
}

#[test]
fn a_private_folder_is_closed_and_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moved");
    create_private_folder(&path).unwrap();
    assert_eq!(mode(&path), 0o700);
    set_mode(&path, 0o755);
    create_private_folder(&path).unwrap();
    assert_eq!(mode(&path), 0o700);

    let (elsewhere, link) = (folder.path().join("elsewhere"), folder.path().join("link"));
    fs::create_dir(&elsewhere).unwrap();
    set_mode(&elsewhere, 0o755);
    symlink(&elsewhere, &link).unwrap();
    create_private_folder(&link).unwrap_err();
    assert_eq!(mode(&elsewhere), 0o755);
}
