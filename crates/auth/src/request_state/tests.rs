use proptest::prelude::{any, prop, prop_assume, proptest};
use proto::{TenantId, Via};

use super::*;

fn principal(tenant: &str, subject: &str, agent: Option<&str>) -> Principal {
    Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: agent.map(str::to_owned),
        scopes: Vec::new(),
        via: Via::Local,
    }
}

#[test]
fn a_state_is_valid_for_its_caller_and_request_until_it_expires() {
    let (signer, ann) = (StateSigner::new(Clock::manual(0)), principal("acme", "ann", None));
    let purpose = Purpose { server: "s", principal: &ann, request: b"tools/call x {}" };
    let signed = signer.sign_until(purpose, 1_000, "state");
    assert_eq!(signer.verify_at(purpose, 1_000, &signed).as_deref(), Ok("state"));
    assert_eq!(signer.verify_at(purpose, 1_001, &signed), Err(Rejected), "too late");
    for other in [
        principal("other", "ann", None),
        principal("acme", "bob", None),
        principal("acme", "ann", Some("agent")),
        principal("acme", "ann", Some("")),
    ] {
        let foreign = Purpose { principal: &other, ..purpose };
        assert_eq!(signer.verify_at(foreign, 0, &signed), Err(Rejected), "{other:?}");
    }
    assert_eq!(signer.verify_at(Purpose { server: "t", ..purpose }, 0, &signed), Err(Rejected));
    assert_eq!(
        signer.verify_at(Purpose { request: b"tools/call y {}", ..purpose }, 0, &signed),
        Err(Rejected)
    );
    assert_eq!(
        StateSigner::new(Clock::manual(0)).verify_at(purpose, 0, &signed),
        Err(Rejected),
        "another gateway's key"
    );
}

proptest! {
    #[test]
    fn no_other_text_is_accepted(text in any::<String>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (signer, ann) = (StateSigner::new(Clock::manual(0)), principal("acme", "ann", None));
        let purpose = Purpose { server: "s", principal: &ann, request: b"r" };
        assert_eq!(signer.verify_at(purpose, 0, &text), Err(Rejected));
        let signed = signer.sign_until(purpose, 9, "state");
        let mut altered = signed.clone().into_bytes();
        let index = at.index(altered.len());
        prop_assume!(altered[index] != byte);
        altered[index] = byte;
        if let Ok(altered) = String::from_utf8(altered) {
            assert_eq!(signer.verify_at(purpose, 0, &altered), Err(Rejected));
        }
    }
}
