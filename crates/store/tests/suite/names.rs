use store::ServerNameRow;

use crate::support::on_both_engines;

fn row(name: &str, owner: &str, claimed_unix_ms: u64) -> ServerNameRow {
    ServerNameRow { name: name.into(), tenant: "acme".into(), owner: owner.into(), claimed_unix_ms }
}

on_both_engines! {
    async fn a_name_stays_with_its_first_owner_until_it_is_released(test) {
        let database = test.open().await;
        assert_eq!(database.server_names().await.unwrap().rows, []);
        assert!(database.claim_server_name(&row("words", "key:a", 7)).await.unwrap());
        assert!(!database.claim_server_name(&row("words", "key:b", 8)).await.unwrap());
        assert!(database.claim_server_name(&row("Words", "key:b", 9)).await.unwrap(), "names are exact");
        database.close().await;

        let reopened = test.open().await;
        let expected = [row("Words", "key:b", 9), row("words", "key:a", 7)];
        assert_eq!(reopened.server_names().await.unwrap().rows, expected);
        reopened.release_server_name("unknown").await.unwrap();
        reopened.release_server_name("words").await.unwrap();
        assert!(reopened.claim_server_name(&row("words", "key:b", 10)).await.unwrap());
        test.execute("UPDATE server_names SET claimed_ms = -1 WHERE name = 'Words'").await.unwrap();
        let listed = reopened.server_names().await.unwrap();
        assert_eq!(listed.rows, [row("words", "key:b", 10)]);
        assert_eq!((&*listed.damaged[0].id, listed.damaged.len()), ("Words", 1));
        assert!(!reopened.claim_server_name(&row("Words", "key:c", 11)).await.unwrap());
    }
}
