//! Private folders: their quota, and that they always go away.

use std::fs;
use std::time::Duration;

use egress::process::{Limits, RunError, Runner, Spec};
use egress::sandbox::Tier;
use tokio_util::sync::CancellationToken;

use crate::process::support::{python, run, rungs, said};

const QUOTA: u64 = 8 << 20;

fn limited(script: &str) -> Spec {
    let limits = Limits { private_folder: QUOTA, ..Limits::default() };
    python(script).limits(limits).deadline(Duration::from_secs(60))
}

#[tokio::test]
async fn a_program_cannot_fill_the_disk() {
    // Files that stay, files without a name, one file through many folders.
    let ways = [
        "open(f'f{i}', 'wb').write(megabyte)",
        "f = open('f', 'wb'); os.unlink('f'); f.write(megabyte); f.flush(); kept.append(f)",
        "os.mkdir(f'{i}'); os.chdir(f'{i}'); open('f', 'wb').write(megabyte)",
    ];
    for (tier, runner) in rungs().await {
        let base = tempfile::tempdir().unwrap();
        let runner = runner.scratch_in(base.path());
        for way in ways {
            let script = format!(
                "import os, time\nmegabyte, kept = os.urandom(1 << 20), []\n\
                 try:\n    for i in range(64):\n        {way}\n\
                 except OSError as error: print(error.errno)\n\
                 else: time.sleep(600)"
            );
            let outcome = run(&runner, limited(&script)).await;
            if tier == Tier::T2 {
                // No space left on device.
                assert_eq!(said(&outcome.unwrap()), "28", "{way}");
            } else {
                let error = outcome.unwrap_err();
                let full = matches!(error, RunError::FolderFull { limit: QUOTA, .. });
                assert!(full, "{tier} {way} {error}");
            }
            assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0, "{tier} {way}");
        }
    }
}

#[tokio::test]
async fn a_program_within_its_quota_is_left_alone() {
    // One file with many names counts once.
    let script = "import os, time\nopen('f', 'wb').write(os.urandom(4 << 20))\n\
                  for i in range(8): os.link('f', f'f{i}')\n\
                  time.sleep(0.5)\nprint('done')";
    for (tier, runner) in rungs().await {
        assert_eq!(said(&run(&runner, limited(script)).await.unwrap()), "done", "{tier}");
    }
}

#[tokio::test]
async fn a_program_that_stays_is_ended_when_its_folder_is_full() {
    let script = "import time\n\
                  for i in range(64): open(f'f{i}', 'wb').write(b'x' * (1 << 20))\n\
                  time.sleep(600)";
    for (tier, runner) in rungs().await {
        let mut piped = runner.spawn_piped(limited(script)).await.unwrap();
        let ending = tokio::time::timeout(Duration::from_secs(60), piped.process.wait()).await;
        assert!(!ending.unwrap().unwrap().success(), "{tier}");
        piped.process.kill().await;
    }
}

/// Without capabilities the modes of files bind a test that is run by root, too.
#[test]
fn a_folder_without_rights_goes_away() {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

    let ordinary = std::thread::spawn(|| {
        let none = CapabilitySet::empty();
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, sets).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let base = tempfile::tempdir().unwrap();
            let launcher = env!("CARGO_BIN_EXE_egress-launcher");
            let runner = Runner::with_launcher(launcher).await.unwrap().scratch_in(base.path());
            for tier in [Tier::T0, Tier::T1, Tier::T2] {
                let runner = runner.clone().at_most(tier);
                let script = "import os\nos.makedirs('a/b')\nopen('a/b/f', 'w').close()\n\
                              os.mkdir('empty', 0)\n\
                              try: os.chmod('a/b', 0); os.chmod('a', 0); os.chmod('.', 0)\n\
                              except PermissionError: pass";
                runner.run(python(script), &CancellationToken::new()).await.unwrap();
                assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0, "{tier}");
            }
        });
    });
    ordinary.join().unwrap();
}
