//! Operations of this process: the one list of all tables, and how commands run one without another process.

use auth::LocalAccess;
use operations::{Caller, Operation, RawInput, Table};

/// Runs an operation in this process, as the operator.
pub(crate) async fn run_here<O: Operation>(
    table: &Table,
    input: &O::Input,
) -> anyhow::Result<O::Output> {
    let caller = Caller::operator(LocalAccess::default().user());
    let input = RawInput::Params(serde_json::to_value(input)?);
    Ok(serde_json::from_value(table.run(O::NAME, caller, input).await?)?)
}
