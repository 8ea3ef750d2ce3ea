use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::*;

fn files(path: &Path) -> (Vec<String>, Vec<Skipped>) {
    let mut files = Files::default();
    files.add(path).unwrap();
    (files.found.into_iter().map(|found| found.source).collect(), files.skipped)
}

#[test]
fn files_that_cannot_be_added_are_skipped_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "a").unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"name\xff.txt")), "b").unwrap();
    let mut deep = root.clone();
    for _ in 0..MAX_DEPTH {
        deep.push("d");
    }
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("hidden.txt"), "c").unwrap();
    std::fs::write(deep.parent().unwrap().join("seen.txt"), "d").unwrap();

    let (found, skipped) = files(&root);
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    let seen = deep.parent().unwrap().join("seen.txt");
    assert_eq!(found, [shown(&root.join("a.txt")), shown(&seen)]);
    let expected = [
        (shown(&deep), format!("the folder is deeper than {MAX_DEPTH} folders")),
        (shown(&root.join("name\u{fffd}.txt")), "its path is not UTF-8".to_owned()),
    ];
    assert_eq!(skipped, expected.map(|(source, why)| Skipped { source, why }));
}

#[test]
fn a_file_has_one_source_however_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("corp/py")).unwrap();
    std::fs::create_dir_all(root.join("x")).unwrap();
    std::fs::write(root.join("corp/py/a.txt"), "a").unwrap();
    std::os::unix::fs::symlink(root.join("corp"), root.join("link")).unwrap();
    std::os::unix::fs::symlink("a.txt", root.join("corp/py/b.txt")).unwrap();
    let expected = vec![root.join("corp/py/a.txt").to_str().unwrap().to_owned()];
    for path in ["corp/py", "x/../corp/py", "link/./py", "corp/py/a.txt", "link/py/a.txt"] {
        assert_eq!(files(&root.join(path)).0, expected, "{path}");
    }
    let named = files(&root.join("link/py/b.txt")).0;
    assert_eq!(named, [root.join("corp/py/b.txt").to_str().unwrap()]);
    assert!(Files::default().add(&root.join("none")).is_err());
}
