use super::{Stopped, Tail, whole};

#[tokio::test]
async fn the_cap_itself_is_allowed_and_one_more_is_not() {
    let exact = vec![b'x'; 100_000];
    assert_eq!(whole(&exact[..], 100_000).await.ok().unwrap(), exact);
    match whole(&exact[..], 99_999).await {
        Err(Stopped::Over { size }) => assert!(size > 99_999),
        _ => panic!("over the cap"),
    }
}

#[tokio::test]
async fn the_tail_keeps_the_end_and_counts_the_rest() {
    let mut tail = Tail::new(5);
    tail.fill(&b"hello world"[..]).await;
    assert_eq!(tail.into_parts(), (b"world".to_vec(), 6));
}
