//! Commands: one argument per element, whatever it contains.

use std::ffi::OsString;

use proto::Code;
use serde_json::json;
use strip::{Failure, Request};

use super::PackTool;
use super::frozen::Frozen;
use crate::contract::Reply;
use crate::manifest::{Argument, Cli};
use crate::template::Values;

/// The longest argument that Linux passes on.
const MAX_ARGUMENT: usize = 128 * 1024 - 1;

impl PackTool {
    pub(super) async fn run_cli(
        &self,
        cli: &Cli,
        frozen: Option<&Frozen>,
        call: &Request,
    ) -> Result<Reply, Failure> {
        let values = self.values(&call.input);
        let program = cli.program.render(&values, MAX_ARGUMENT)?;
        let arguments = cli
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| {
                let text = fill(argument, index + 1, &values)?;
                Ok(match frozen {
                    // The author may name a script of the pack; what a caller sends stays as it is.
                    Some(frozen) if argument.text.is_plain() => frozen.path(&text),
                    _ => text.into(),
                })
            })
            .collect::<Result<Vec<OsString>, Failure>>()?;
        self.run_once(self.spec(&program, frozen).args(arguments), call).await
    }

    /// The program that a command means, as its author wrote it.
    pub(super) fn cli_program(&self, cli: &Cli, call: &Request) -> Result<String, Failure> {
        cli.program.render(&self.values(&call.input), MAX_ARGUMENT)
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
    // Many programs would take it for an option, or for the name of a file to read.
    if !argument.may_lead && text.starts_with(['-', '@']) {
        return refuse("must not begin with `-` or `@`");
    }
    Ok(text)
}
