use std::time::Duration;

use proto::{Code, TenantId};
use strip::files::{FileRecord, Grant};
use url::Url;

use crate::support::{DAY, House, code, house, open, person};

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

async fn linked(house: &House) -> (FileRecord, String, Grant) {
    house.files.reached_at("https://gate.example/strip/".parse().unwrap());
    let kept = house.put(&person("acme & co", "ann"), "a.txt", "hello").await;
    let url = house.files.link(&kept, None).await.unwrap();
    assert!(url.as_str().starts_with("https://gate.example/strip/v1/files/file_"), "{url}");
    let (id, grant) = read(&url);
    (kept, id, grant)
}

#[tokio::test]
async fn a_link_opens_its_file_until_it_expires() {
    let house = house().await;
    let (kept, id, grant) = linked(&house).await;
    assert_eq!(house.files.follow(&id, &grant).await.unwrap(), kept);
    house.clock.advance(Duration::from_secs(3598));
    assert!(house.files.follow(&id, &grant).await.is_ok());
    house.clock.advance(Duration::from_secs(3));
    assert_eq!(code(house.files.follow(&id, &grant).await), Code::Denied);
}

#[tokio::test]
async fn a_changed_link_opens_nothing() {
    let house = house().await;
    let (_, id, grant) = linked(&house).await;
    let other = house.put(&person("acme & co", "ann"), "b.txt", "other").await;
    assert_eq!(code(house.files.follow(other.id.as_str(), &grant).await), Code::Denied);
    let foreign = house.put(&person("evil", "eve"), "c.txt", "evil").await;
    assert_eq!(code(house.files.follow(foreign.id.as_str(), &grant).await), Code::Denied);

    let longer = Grant { expires: grant.expires + 1, ..grant.clone() };
    assert_eq!(code(house.files.follow(&id, &longer).await), Code::Denied);
    let elsewhere = Grant { tenant: TenantId::new("evil"), ..grant.clone() };
    assert_eq!(code(house.files.follow(&id, &elsewhere).await), Code::Denied);
    for place in 0..grant.signature.len() {
        let mut signature = grant.signature.clone().into_bytes();
        signature[place] = if signature[place] == b'A' { b'B' } else { b'A' };
        let signature = String::from_utf8(signature).unwrap();
        let changed = Grant { signature, ..grant.clone() };
        assert_eq!(code(house.files.follow(&id, &changed).await), Code::Denied, "byte {place}");
    }
    for signature in ["", "A", "=", "%00", &grant.signature[1..]] {
        let changed = Grant { signature: signature.to_owned(), ..grant.clone() };
        assert_eq!(code(house.files.follow(&id, &changed).await), Code::Denied, "{signature}");
    }
    assert!(house.files.follow(&id, &grant).await.is_ok());
}

#[tokio::test]
async fn a_link_is_no_longer_than_its_file_and_goes_with_it() {
    let house = house().await;
    let (kept, id, grant) = linked(&house).await;
    house.files.delete(&person("acme & co", "bob"), &id).await.unwrap();
    assert_eq!(code(house.files.follow(&id, &grant).await), Code::NotFound);
    let far = house.files.link(&kept, Some(400 * DAY)).await.unwrap();
    let week = house.clock.unix_ms() / 1000 + 7 * 24 * 60 * 60;
    assert_eq!(read(&far).1.expires, week);
    assert_eq!(code(house.files.link(&kept, Some(Duration::ZERO)).await), Code::InvalidInput);
}

#[tokio::test]
async fn links_outlive_a_restart_and_another_folders_key_opens_nothing() {
    let first = house().await;
    let (_, id, grant) = linked(&first).await;
    let again = open(first.folder.path(), &first.clock, |_| {}).await;
    assert!(again.follow(&id, &grant).await.is_ok());
    let stranger = open(first.folder.path(), &first.clock, |parts| parts.link_key = [1; 32]).await;
    assert_eq!(code(stranger.follow(&id, &grant).await), Code::Denied);
}

#[tokio::test]
async fn there_is_no_link_while_no_door_is_open() {
    let house = house().await;
    let kept = house.put(&person("acme", "ann"), "a.txt", "hello").await;
    assert_eq!(code(house.files.link(&kept, None).await), Code::Unavailable);
}
