
use crate::support::{run, runner, said};
use egress::process::Spec;
use egress::sandbox::{Mode, Policy, Tier};
use std::time::Instant;
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measure"]
async fn measure() {
    let runner2 = runner(Tier::T2).await;
    let python = runner2.locate("python3").await.unwrap();
    for (program, args) in [("/bin/true".into(), vec![]), (python, vec!["-c", "print(1)"])] {
        for round in 0..2 {
        let n = 60;
        let mut t = vec![];
        for _ in 0..n {
            let b = Instant::now();
            let o = tokio::process::Command::new(&program).args(&args).env_clear().output().await.unwrap();
            assert!(o.status.success());
            t.push(b.elapsed());
        }
        t.sort();
        eprintln!("{round} direct {program:?} {:?}", t[n / 2]);
        for tier in [Tier::T0, Tier::T1, Tier::T2] {
            let r = runner(tier).await;
            let mut t = vec![];
            for _ in 0..n {
                let b = Instant::now();
                let f = run(&r, Spec::new(&program).args(args.clone())).await.unwrap();
                said(&f);
                t.push(b.elapsed());
            }
            t.sort();
            eprintln!("{round} {tier} {program:?} {:?} {:?}", t[n / 2], Mode::Auto == Mode::Auto);
            let _ = Policy::new();
        }
        }
    }
}
