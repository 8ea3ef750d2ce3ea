use std::sync::Arc;
use std::time::Duration;

use proto::Digest;
use serde_json::Value;

use crate::Request;
use crate::approval::ShownFile;
use files::Attachments;

/// A request on its way through the guard stack, with what the guards add for the tool.
#[derive(Clone, Debug)]
pub struct Job {
    /// The request; its input has the contents of files where the tool takes them.
    pub request: Request,
    /// The caller's own input, if files were filled in.
    pub caller_input: Option<Arc<Value>>,
    /// Files that the input only has placeholders of, because the tool streams them.
    pub attachments: Option<Arc<Attachments>>,
    /// The files that a person saw when they approved the call.
    pub shown_files: Option<Arc<[ShownFile]>>,
    /// The digest of the code that a person approved: the tool must run no other.
    pub approved_code: Option<Digest>,
    /// How long the tool may take, before it is ended.
    pub time_limit: Duration,
}

impl Job {
    /// A request that no guard has added anything to.
    pub fn new(request: Request) -> Self {
        Self {
            request,
            caller_input: None,
            attachments: None,
            shown_files: None,
            approved_code: None,
            time_limit: Duration::MAX,
        }
    }
}
