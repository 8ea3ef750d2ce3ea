use std::time::Duration;

use files::{FileRecord, Grant};
use proto::{Code, TenantId};
use url::Url;

use crate::support::{DAY, Setup, code, open, person, setup};

fn read(url: &Url) -> (String, Grant) {
    let value = |name: &str| {
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap()
    };
    let id = url.path_segments().unwrap().nth_back(1).unwrap().to_owned();
    let grant = Grant {
        tenant: TenantId::new(value("tenant")),
        expires: value("expires").parse().unwrap(),
        signature: value("sig"),
    };
    (id, grant)
}

async fn linked(setup: &Setup) -> (FileRecord, String, Grant) {
    setup.files.set_public_url("https://gate.example/strip/".parse().unwrap());
    let kept = setup.put(&person("acme & co", "ann"), "a.txt", "hello").await;
    let url = setup.files.link(&kept, None).await.unwrap();
    assert!(url.as_str().starts_with("https://gate.example/strip/v1/files/file_"), "{url}");
    let (id, grant) = read(&url);
    (kept, id, grant)
}

#[tokio::test]
async fn a_link_opens_its_file_until_it_expires() {
    let setup = setup().await;
    let (kept, id, grant) = linked(&setup).await;
    assert_eq!(setup.files.open_link(&id, &grant).await.unwrap(), kept);
    setup.clock.advance(Duration::from_secs(3598));
    assert!(setup.files.open_link(&id, &grant).await.is_ok());
    setup.clock.advance(Duration::from_secs(3));
    assert_eq!(code(setup.files.open_link(&id, &grant).await), Code::Denied);
}

#[tokio::test]
async fn a_changed_link_opens_nothing() {
    let setup = setup().await;
    let (_, id, grant) = linked(&setup).await;
    let other = setup.put(&person("acme & co", "ann"), "b.txt", "other").await;
    assert_eq!(code(setup.files.open_link(other.id.as_str(), &grant).await), Code::Denied);
    let foreign = setup.put(&person("evil", "eve"), "c.txt", "evil").await;
    assert_eq!(code(setup.files.open_link(foreign.id.as_str(), &grant).await), Code::Denied);

    let longer = Grant { expires: grant.expires + 1, ..grant.clone() };
    assert_eq!(code(setup.files.open_link(&id, &longer).await), Code::Denied);
    let elsewhere = Grant { tenant: TenantId::new("evil"), ..grant.clone() };
    assert_eq!(code(setup.files.open_link(&id, &elsewhere).await), Code::Denied);
    for place in 0..grant.signature.len() {
        let mut signature = grant.signature.clone().into_bytes();
        signature[place] = if signature[place] == b'A' { b'B' } else { b'A' };
        let signature = String::from_utf8(signature).unwrap();
        let changed = Grant { signature, ..grant.clone() };
        assert_eq!(code(setup.files.open_link(&id, &changed).await), Code::Denied, "byte {place}");
    }
    for signature in ["", "A", "=", "%00", &grant.signature[1..]] {
        let changed = Grant { signature: signature.to_owned(), ..grant.clone() };
        assert_eq!(code(setup.files.open_link(&id, &changed).await), Code::Denied, "{signature}");
    }
    assert!(setup.files.open_link(&id, &grant).await.is_ok());
}

#[tokio::test]
async fn a_link_is_no_longer_than_its_file_and_goes_with_it() {
    let setup = setup().await;
    let (kept, id, grant) = linked(&setup).await;
    setup.files.delete(&person("acme & co", "bob"), &id).await.unwrap();
    assert_eq!(code(setup.files.open_link(&id, &grant).await), Code::NotFound);
    let far = setup.files.link(&kept, Some(400 * DAY)).await.unwrap();
    let week = setup.clock.unix_ms() / 1000 + 7 * 24 * 60 * 60;
    assert_eq!(read(&far).1.expires, week);
    assert_eq!(code(setup.files.link(&kept, Some(Duration::ZERO)).await), Code::InvalidInput);
}

#[tokio::test]
async fn links_outlive_a_restart_and_another_folders_key_opens_nothing() {
    let first = setup().await;
    let (_, id, grant) = linked(&first).await;
    let again = open(first.folder.path(), &first.clock, |_| {}).await;
    assert!(again.open_link(&id, &grant).await.is_ok());
    let other_gateway =
        open(first.folder.path(), &first.clock, |parts| parts.link_key = [1; 32]).await;
    assert_eq!(code(other_gateway.open_link(&id, &grant).await), Code::Denied);
}

#[tokio::test]
async fn there_is_no_link_while_no_door_is_open() {
    let setup = setup().await;
    let kept = setup.put(&person("acme", "ann"), "a.txt", "hello").await;
    assert_eq!(code(setup.files.link(&kept, None).await), Code::Unavailable);
}
