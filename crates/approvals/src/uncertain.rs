//! Changes of approvals of which an error does not say whether they were stored.

use std::time::Duration;

use store::{ApprovalRow, StoreError};

use crate::Approvals;

/// How long is waited before a change is tried again, and with the last one for how long in all.
const PAUSES: [Duration; 7] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

impl Approvals {
    /// Makes a change that can be made once; returns false if it was not possible any more. If the connection to the
    /// database is lost, the change may have been stored: it is tried again, and if it is not possible any more,
    /// `is_stored` says of the row whether the reason is the first try.
    pub(crate) async fn change_once<F>(
        &self,
        id: &str,
        change: impl Fn() -> F,
        is_stored: impl Fn(&ApprovalRow) -> bool,
    ) -> Result<bool, StoreError>
    where
        F: Future<Output = Result<bool, StoreError>>,
    {
        let mut result = change().await;
        for pause in PAUSES {
            let Err(StoreError::Unreachable(error)) = &result else { return result };
            tracing::warn!(%error, approval = id, "a change of an approval is tried again");
            tokio::time::sleep(pause).await;
            result = match change().await {
                Ok(false) => {
                    self.get(None, id).await.map(|row| row.is_some_and(|row| is_stored(&row)))
                }
                result => result,
            };
        }
        result
    }
}
