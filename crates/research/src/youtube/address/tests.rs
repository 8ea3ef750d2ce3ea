use super::*;

#[test]
fn videos_are_found_in_every_form_of_address() {
    for url in [
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
        "https://m.youtube.com/watch?app=desktop&v=dQw4w9WgXcQ&t=10",
        "http://youtu.be/dQw4w9WgXcQ?si=x",
        "https://youtube.com/shorts/dQw4w9WgXcQ",
        "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
        "https://www.youtube.com/live/dQw4w9WgXcQ",
    ] {
        assert_eq!(video_id(&Url::parse(url).unwrap()), Some("dQw4w9WgXcQ"), "{url}");
    }
    for url in [
        "https://www.youtube.com/@channel",
        "https://www.youtube.com/watch?v=short",
        "https://www.youtube.com/watch?v=../../../etc",
        "https://notyoutube.com/watch?v=dQw4w9WgXcQ",
        "https://youtube.com.evil.test/watch?v=dQw4w9WgXcQ",
    ] {
        assert_eq!(video_id(&Url::parse(url).unwrap()), None, "{url}");
    }
}
