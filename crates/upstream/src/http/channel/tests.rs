use super::*;

#[test]
fn messages_are_posted_to_the_origin_of_the_stream_only() {
    let stream = Target::parse("http://mcp.example.com:8080/v1/sse?key=1").unwrap();
    for (written, url) in [
        ("/messages?id=7", "http://mcp.example.com:8080/messages?id=7"),
        ("messages", "http://mcp.example.com:8080/v1/messages"),
        ("?id=7", "http://mcp.example.com:8080/v1/sse?id=7"),
        ("http://mcp.example.com:8080/x", "http://mcp.example.com:8080/x"),
    ] {
        assert_eq!(message_url(&stream, written).unwrap(), url, "{written}");
    }
    for written in [
        "http://evil.example.com/x",
        "//evil.example.com/x",
        "http://mcp.example.com/x",
        "https://mcp.example.com:8080/x",
        "http://user:pw@mcp.example.com:8080/x",
        "javascript:alert(1)",
        "file:///etc/passwd",
    ] {
        assert!(message_url(&stream, written).is_err(), "{written}");
    }
}
