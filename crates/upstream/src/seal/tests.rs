#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::{any, prop, prop_assume, proptest};
use proto::TenantId;

use super::*;

fn principal(tenant: &str, subject: &str, agent: Option<&str>) -> Principal {
    Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: agent.map(str::to_owned),
        scopes: Vec::new(),
    }
}

#[test]
fn a_state_opens_for_whom_and_what_it_was_given_and_in_time() {
    let (seal, ann) = (Seal::new(), principal("acme", "ann", None));
    let purpose = Purpose { server: "s", principal: &ann, request: b"tools/call x {}" };
    let sealed = seal.close(purpose, 1_000, "state");
    assert_eq!(seal.open(purpose, 1_000, &sealed).as_deref(), Ok("state"));
    assert_eq!(seal.open(purpose, 1_001, &sealed), Err(Refused), "too late");
    for other in [
        principal("other", "ann", None),
        principal("acme", "bob", None),
        principal("acme", "ann", Some("agent")),
        principal("acme", "ann", Some("")),
    ] {
        let foreign = Purpose { principal: &other, ..purpose };
        assert_eq!(seal.open(foreign, 0, &sealed), Err(Refused), "{other:?}");
    }
    assert_eq!(seal.open(Purpose { server: "t", ..purpose }, 0, &sealed), Err(Refused));
    assert_eq!(
        seal.open(Purpose { request: b"tools/call y {}", ..purpose }, 0, &sealed),
        Err(Refused)
    );
    assert_eq!(Seal::new().open(purpose, 0, &sealed), Err(Refused), "another gateway's");
}

proptest! {
    #[test]
    fn no_other_text_opens(text in any::<String>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (seal, ann) = (Seal::new(), principal("acme", "ann", None));
        let purpose = Purpose { server: "s", principal: &ann, request: b"r" };
        assert_eq!(seal.open(purpose, 0, &text), Err(Refused));
        let sealed = seal.close(purpose, 9, "state");
        let mut altered = sealed.clone().into_bytes();
        let place = at.index(altered.len());
        prop_assume!(altered[place] != byte);
        altered[place] = byte;
        if let Ok(altered) = String::from_utf8(altered) {
            assert_eq!(seal.open(purpose, 0, &altered), Err(Refused));
        }
    }
}
