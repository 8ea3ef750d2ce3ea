use super::{Resolve, SystemResolver};

#[tokio::test]
async fn localhost_is_known_without_a_name_server() {
    let resolver = SystemResolver::new().unwrap();
    let found = resolver.resolve("localhost").await.unwrap();
    assert!(!found.is_empty());
    assert!(found.iter().all(|ip| ip.is_loopback()), "{found:?}");
}

#[tokio::test]
async fn a_name_that_cannot_exist_is_an_error() {
    let resolver = SystemResolver::new().unwrap();
    assert!(resolver.resolve("nothing.invalid.").await.is_err());
    assert!(resolver.resolve(&"x".repeat(300)).await.is_err());
}

#[tokio::test]
async fn without_settings_the_hosts_file_still_counts() {
    let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
    let resolver = SystemResolver::from_settings(Err(missing.into())).unwrap();
    assert!(!resolver.resolve("localhost").await.unwrap().is_empty());
}
