use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The binary under test. Cargo builds it for the tests of its own crate and names it only there.
pub fn powerstrip_binary() -> PathBuf {
    // Test executables lie in `target/<profile>/deps`; the binary lies one folder up.
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder =
        test.parent().and_then(Path::parent).expect("tests run from target/<profile>/deps");
    let binary = folder.join(format!("powerstrip{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is missing: run `cargo build` first", binary.display());
    binary
}

/// Waits until a condition holds; fails the test after a bound that only a hang reaches.
pub async fn eventually<T, F>(what: &str, mut probe: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(value) = probe().await {
            return value;
        }
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}
