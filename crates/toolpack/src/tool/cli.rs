//! Commands: each element is one argument, whatever it contains.

use std::ffi::OsString;

use proto::{Code, Failure};
use serde_json::json;
use strip::Job;

use super::pack_tool::PackTool;
use super::verified_copy::VerifiedCopy;
use crate::contract::Reply;
use crate::manifest::{Argument, Cli};
use crate::template::Values;

/// The longest argument that Linux accepts.
const MAX_ARGUMENT: usize = 128 * 1024 - 1;

impl PackTool {
    pub(super) async fn run_cli(
        &self,
        cli: &Cli,
        copy: Option<&VerifiedCopy>,
        job: &Job,
    ) -> Result<Reply, Failure> {
        let values = self.values(&job.input);
        let program = cli.program.render(&values, MAX_ARGUMENT)?;
        let arguments = cli
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| {
                let text = fill(argument, index + 1, &values)?;
                Ok(match copy {
                    // The author may name a script of the pack; a caller's value is passed unchanged.
                    Some(copy) if argument.text.is_plain() => copy.path(&text),
                    _ => text.into(),
                })
            })
            .collect::<Result<Vec<OsString>, Failure>>()?;
        self.run_once(self.spec(&program, copy).args(arguments), job).await
    }

    /// The program of a command, as its author wrote it.
    pub(super) fn cli_program(&self, cli: &Cli, job: &Job) -> Result<String, Failure> {
        cli.program.render(&self.values(&job.input), MAX_ARGUMENT)
    }
}

fn fill(argument: &Argument, index: usize, values: &Values) -> Result<String, Failure> {
    let text = argument.text.render(values, MAX_ARGUMENT)?;
    let refuse = |why: &str| {
        Err(Failure::new(
            Code::InvalidInput,
            format!("the value for `{}` {why}", argument.text.source()),
        )
        .details(json!({"argument": index})))
    };
    if text.contains('\0') {
        return refuse("contains a NUL character");
    }
    // Many programs treat it as an option, or as the name of a file to read.
    if !argument.may_lead && text.starts_with(['-', '@']) {
        return refuse("must not begin with `-` or `@`");
    }
    Ok(text)
}
