//! Folders that stay hidden from every confined program, whatever it may read around them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use egress::process::{RunError, Spec};
use egress::sandbox::{Mode, Policy, Tier};
use tempfile::TempDir;

use crate::process::support::{confining_rungs, python, run, said};
use crate::sandbox::attempt;

/// A project with a data folder in it.
fn project() -> TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir_all(project.path().join("data/tmp")).unwrap();
    fs::write(project.path().join("data/secret"), "secret").unwrap();
    fs::write(project.path().join("note"), "note").unwrap();
    project
}

#[tokio::test]
async fn a_readable_folder_does_not_expose_a_hidden_one() {
    let project = project();
    let data = project.path().join("data");
    let script = "import os, sys\n\
                  print(open(sys.argv[1] + '/note').read(), os.listdir(sys.argv[1] + '/data'))";
    for (tier, runner) in confining_rungs().await {
        let runner = runner.hiding(&data);
        for policy in [Policy::new().read(project.path()), Policy::new().write(project.path())] {
            let spec = python(script).arg(project.path());
            let free = run(&runner, spec.clone().policy(policy.clone().mode(Mode::Off))).await;
            assert!(said(&free.unwrap()).contains("secret"));

            let confined = run(&runner, spec.policy(policy.clone())).await;
            if tier == Tier::T2 {
                assert_eq!(said(&confined.unwrap()), "note []");
                let write = attempt("open(path, 'w')").arg(data.join("new")).policy(policy);
                assert_ne!(said(&run(&runner, write).await.unwrap()), "done");
            } else {
                let error = confined.unwrap_err();
                assert!(matches!(error, RunError::Exposed { .. }), "{error}");
                assert!(error.to_string().contains("move one of them"), "{error}");
            }
        }
    }
    assert_eq!(fs::read_to_string(data.join("secret")).unwrap(), "secret");
    assert!(!data.join("new").exists());
}

#[tokio::test]
async fn paths_in_a_hidden_folder_are_not_granted() {
    let project = project();
    let data = project.path().join("data");
    for (tier, runner) in confining_rungs().await {
        let runner = runner.hiding(&data);
        for granted in [data.join("secret"), project.path().join("data/../data/tmp"), data.clone()]
        {
            let spec = python("").policy(Policy::new().read(&granted));
            let error = run(&runner, spec).await.unwrap_err();
            assert!(matches!(error, RunError::Exposed { .. }), "{tier} {granted:?} {error}");
        }
        let error = run(&runner, python("").folder(data.join("tmp"))).await.unwrap_err();
        assert!(matches!(error, RunError::Exposed { .. }), "{tier} {error}");
    }
}

#[tokio::test]
async fn the_installation_of_a_program_does_not_expose_a_hidden_folder() {
    let project = project();
    let data = project.path().join("data");
    let program = project.path().join("bin/tool");
    fs::create_dir(project.path().join("bin")).unwrap();
    fs::write(&program, "#!/bin/sh\ncat \"$1\" 2>/dev/null || echo nothing\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for (tier, runner) in confining_rungs().await {
        let runner = runner.hiding(&data);
        let spec = Spec::new(&program).arg(data.join("secret"));
        assert_eq!(said(&run(&runner, spec.clone()).await.unwrap()), "nothing", "{tier}");
        let free = run(&runner, spec.policy(Policy::new().mode(Mode::Off))).await.unwrap();
        assert_eq!(said(&free), "secret", "{tier}");
    }
}

#[tokio::test]
async fn a_private_folder_may_lie_in_a_hidden_one() {
    let project = project();
    let data = project.path().join("data");
    let script = "import os\nopen('own', 'w').write('own')\nprint(open('own').read())\n\
                  try: print(os.listdir('..'), open('../../secret').read())\n\
                  except OSError: print('hidden')";
    for (tier, runner) in confining_rungs().await {
        let runner = runner.hiding(&data).scratch_in(data.join("tmp"));
        let seen = said(&run(&runner, python(script)).await.unwrap());
        assert_eq!(seen, "own\nhidden", "{tier}");
        assert_eq!(fs::read_dir(data.join("tmp")).unwrap().count(), 0, "{tier}");
    }
}
