use store::{Pin, PinnedDefinition, StoredPins};

use crate::support::on_both_engines;

fn pin(tool: &str, digests: &str, definition: &str) -> PinnedDefinition {
    PinnedDefinition {
        pin: Pin { server: "crm".into(), tool: tool.into(), form: 1, digests: digests.into() },
        definition: definition.into(),
    }
}

on_both_engines! {
    async fn the_first_pin_stays_until_another_is_approved(test) {
        let database = test.open().await;
        assert_eq!(database.pins().await.unwrap(), StoredPins::default());
        assert_eq!(database.pinned_definition("crm", "a").await.unwrap(), None);
        database.add_pins(&[]).await.unwrap();

        let odd = "ö\"'\u{200b}\\u0000".repeat(30_000);
        let many: Vec<_> = (0..450).map(|n| pin(&format!("tool {n}"), "aa", &n.to_string())).collect();
        database.add_pins(&many).await.unwrap();
        database.add_pins(&[pin("a", "11", &odd), pin("tool 1", "bb", "{}")]).await.unwrap();
        assert_eq!(database.pinned_definition("crm", "a").await.unwrap(), Some(odd.clone()));
        assert_eq!(database.pinned_definition("crm", "A").await.unwrap(), None, "names are exact");
        let kept = |pins: &[Pin], tool: &str| {
            pins.iter().find(|pin| pin.tool == tool).map(|pin| pin.digests.clone())
        };
        let pins = database.pins().await.unwrap().pins;
        assert_eq!((pins.len(), kept(&pins, "tool 1").as_deref()), (451, Some("aa")));

        let mut renewed = pin("tool 2", "ee", "{}");
        renewed.pin.form = 2;
        database.add_pins(&[renewed]).await.unwrap();
        database.add_pins(&[pin("tool 2", "ff", "{}")]).await.unwrap();
        let pins = database.pins().await.unwrap().pins;
        assert_eq!(kept(&pins, "tool 2").as_deref(), Some("ee"), "a newer form replaces an older one");

        database.approve_pins(&[pin("tool 1", "cc", "[]"), pin("new", "dd", "[]")]).await.unwrap();
        database.close().await;
        let reopened = test.open().await;
        let pins = reopened.pins().await.unwrap().pins;
        assert_eq!((pins.len(), kept(&pins, "tool 1").as_deref()), (452, Some("cc")));
        assert_eq!(reopened.pinned_definition("crm", "tool 1").await.unwrap().as_deref(), Some("[]"));
    }
}
