//! A gateway in miniature: the launcher of the tests, and a parent that tests can kill.
//!
//! `egress-launcher TIER PROGRAM [ARGUMENT…]` runs one program at most at that tier.

use std::process::ExitCode;

use egress::process::{Runner, Spec, become_subreaper};
use egress::sandbox::{Tier, maybe_run_launcher};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    maybe_run_launcher();
    let mut arguments = std::env::args_os().skip(1);
    let tier = match arguments.next().as_deref().and_then(|tier| tier.to_str()) {
        Some("T0") => Tier::T0,
        Some("T1") => Tier::T1,
        Some("T2") => Tier::T2,
        _ => return ExitCode::from(2),
    };
    let Some(program) = arguments.next() else { return ExitCode::from(2) };
    let spec = Spec::new(program).args(arguments).stdout_cap(u64::MAX);

    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    let outcome = runtime.block_on(async {
        become_subreaper().ok()?;
        let runner = Runner::new().await.ok()?.at_most(tier);
        runner.run(spec, &CancellationToken::new()).await.ok()
    });
    match outcome {
        Some(finished) if finished.exit.success() && finished.tier == tier => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
