use super::*;

fn endpoint(needs_key: bool) -> Endpoint {
    Endpoint {
        base_url: "http://127.0.0.1:7777".to_owned(),
        needs_key,
        program: "/usr/bin/powerstrip".to_owned(),
    }
}

#[test]
fn every_client_gets_an_entry_in_its_own_shape() {
    for client in Client::ALL {
        assert_eq!(client.id().parse(), Ok(client));
        let text = client.snippet(&endpoint(false));
        match client {
            Client::ClaudeDesktop => assert!(text.contains("\"--url\""), "{text}"),
            _ => assert!(text.contains("http://127.0.0.1:7777/mcp"), "{text}"),
        }
        match client.format() {
            Format::Json => {
                let whole: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(whole[client.section()][ENTRY], client.entry(&endpoint(false)));
            }
            Format::Toml => {
                assert_eq!(text, "[mcp_servers.powerstrip]\nurl = \"http://127.0.0.1:7777/mcp\"",)
            }
        }
    }
    assert!("emacs".parse::<Client>().is_err());
}

#[test]
fn a_guarded_gateway_is_called_with_a_key_that_the_file_does_not_contain() {
    for client in Client::ALL {
        let text = client.snippet(&endpoint(true));
        let named = text.contains(TOKEN_VARIABLE) || text.contains("YOUR_KEY");
        assert!(named, "{client}: {text}");
    }
    let command = Client::ClaudeCode.command(&endpoint(true)).unwrap();
    assert!(command.contains("--header \"Authorization: Bearer $POWERSTRIP_TOKEN\""), "{command}");
}
