use super::*;

#[test]
fn the_player_response_is_found_and_read() {
    let page = r#"<script>if (window.ytInitialPlayerResponse) {}</script><script>var ytInitialPlayerResponse = {"captions":{"playerCaptionsTracklistRenderer":{"captionTracks":[
        {"baseUrl":"https://y.test/de","languageCode":"de"},{"baseUrl":"https://y.test/asr?a=1\u0026b=2","languageCode":"en","kind":"asr"},
        {"baseUrl":"https://y.test/en","languageCode":"en-GB"}]}},"videoDetails":{"title":"A; } title","author":"Ann","shortDescription":"About"},
        "microformat":{"playerMicroformatRenderer":{"publishDate":"2024-05-03"}},"playabilityStatus":{"status":"OK"}};var meta = 1;</script>"#;
    let player = Player::read(page);
    assert_eq!(player.best_track().unwrap().url, "https://y.test/en");
    assert_eq!(player.tracks[1].url, "https://y.test/asr?a=1&b=2");
    assert_eq!(player.pattern, Some("ytInitialPlayerResponse"));
    assert_eq!(
        (player.title.as_deref(), player.author.as_deref()),
        (Some("A; } title"), Some("Ann"))
    );
    assert_eq!(player.published.as_deref(), Some("2024-05-03"));
    assert_eq!((player.description.as_deref(), player.unplayable), (Some("About"), None));
}

#[test]
fn tracks_are_found_without_a_player_response() {
    let page = r#"<title>Tom &amp; Ann - YouTube</title>{"x":{"captionTracks":[{"baseUrl":"/t","languageCode":"fr"}],"y":1},"shortDescription":"Two\nlines"}"#;
    let player = Player::read(page);
    assert_eq!(player.best_track().unwrap().language, "fr");
    assert_eq!(player.pattern, Some("captionTracks"));
    assert_eq!(player.description.as_deref(), Some("Two\nlines"));
    assert_eq!(player.title.as_deref(), Some("Tom & Ann"));
}

#[test]
fn a_video_that_does_not_play_says_why() {
    let page = r#"var ytInitialPlayerResponse = {"playabilityStatus":{"status":"LOGIN_REQUIRED","reason":"Sign in"}};"#;
    let player = Player::read(page);
    assert_eq!(player.unplayable.as_deref(), Some("Sign in"));
    assert!(player.tracks.is_empty() && player.pattern.is_none());
    assert_eq!(Player::read("ytInitialPlayerResponse = {broken"), Player::default());
}
