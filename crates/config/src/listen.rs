//! `listen`: the address that the gateway listens on.

use std::borrow::Cow;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// An address and a port to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen(pub SocketAddr);

/// A text that is not an address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an address to listen on; write `127.0.0.1:7777`, `[::1]:7777` or `localhost:7777`"
)]
pub struct InvalidListen(String);

impl Default for Listen {
    fn default() -> Self {
        Self(SocketAddr::from((Ipv4Addr::LOCALHOST, 7777)))
    }
}

impl Listen {
    /// Whether only this machine can reach the address.
    pub fn is_loopback(self) -> bool {
        self.0.ip().to_canonical().is_loopback()
    }
}

impl FromStr for Listen {
    type Err = InvalidListen;

    fn from_str(text: &str) -> Result<Self, InvalidListen> {
        let malformed = || InvalidListen(text.to_owned());
        match text.strip_prefix("localhost:") {
            Some(port) => {
                let port = port.parse().map_err(|_| malformed())?;
                Ok(Self(SocketAddr::from((Ipv4Addr::LOCALHOST, port))))
            }
            None => text.parse().map(Self).map_err(|_| malformed()),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Address;
        impl Visitor<'_> for Address {
            type Value = Listen;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address such as `127.0.0.1:7777`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Listen, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, port: u64) -> Result<Listen, E> {
                Err(E::custom(format_args!(
                    "`{port}` has no address; did you mean `127.0.0.1:{port}`?"
                )))
            }
        }
        deserializer.deserialize_any(Address)
    }
}

impl Serialize for Listen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Listen {
    fn schema_name() -> Cow<'static, str> {
        "Listen".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "address",
            "type": "string",
            "pattern": "^.+:[0-9]{1,5}$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Listen;

    #[test]
    fn addresses_are_parsed() {
        for (text, shown) in [
            ("127.0.0.1:7777", "127.0.0.1:7777"),
            ("localhost:80", "127.0.0.1:80"),
            ("[::1]:7777", "[::1]:7777"),
            ("0.0.0.0:0", "0.0.0.0:0"),
        ] {
            assert_eq!(
                text.parse::<Listen>().map(|listen| listen.to_string()),
                Ok(shown.to_owned())
            );
        }
        for text in [
            "",
            "7777",
            ":7777",
            "localhost",
            "example.com:80",
            "127.0.0.1:99999",
            "localhost:x",
            "::1:80",
        ] {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_is_loopback() {
        for (text, loopback) in [
            ("127.0.0.1:1", true),
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("192.168.1.5:1", false),
        ] {
            assert_eq!(text.parse::<Listen>().map(Listen::is_loopback), Ok(loopback), "{text}");
        }
    }
}
