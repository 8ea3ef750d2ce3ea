//! Kinds and ids of checkpoints. Each id ends with a digest of its workflow and its own random part, so that an id that the workflow had
//! earlier is distinguished from one that it never had, without a list of all of them.

use proto::digest_of_parts;
use uuid::Uuid;

/// The kind of checkpoint of a quarantined workflow.
pub(crate) const QUARANTINED: &str = "quarantined";

const PREFIX: &str = "chk_";

/// The length of the random part.
const RANDOM: usize = 24;

/// How many bytes of the digest an id has.
const DIGEST_BYTES: usize = 4;

/// An id for the next checkpoint of a workflow.
pub(crate) fn new_id(workflow: Uuid) -> String {
    let mut random = Uuid::new_v4().simple().to_string();
    random.truncate(RANDOM);
    let digest = digest(workflow, &random);
    format!("{PREFIX}{random}{digest}")
}

/// Whether a checkpoint of this workflow has or had this id.
pub(crate) fn is_of(workflow: Uuid, id: &str) -> bool {
    let parts = id.strip_prefix(PREFIX).and_then(|rest| rest.split_at_checked(RANDOM));
    parts.is_some_and(|(random, given)| given == digest(workflow, random))
}

fn digest(workflow: Uuid, random: &str) -> String {
    let digest =
        digest_of_parts([b"checkpoint", workflow.as_bytes().as_slice(), random.as_bytes()]);
    digest.as_bytes().iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_of_its_own_workflow_only() {
        let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
        let id = new_id(one);
        assert_eq!(id.len(), PREFIX.len() + 32);
        assert!(is_of(one, &id) && !is_of(other, &id) && new_id(one) != id);
        let garbled = id.replace(&id[6..8], if &id[6..8] == "aa" { "bb" } else { "aa" });
        for wrong in ["", "chk_", "chk_1", "latest", &id[4..], &garbled, "chk_\u{e4}\u{e4}"] {
            assert!(!is_of(one, wrong), "{wrong}");
        }
    }
}
