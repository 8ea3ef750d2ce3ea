//! The states of a server and the switches of an operator: one row each, from which JSON, forms, audit rows, colours and
//! messages take what they need.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ServerSummary;

/// The health of a server in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Good,
    /// It will be known in a moment.
    Changing,
    /// The operator has to do something, although some of it may work.
    Doubtful,
    /// The server does not work.
    Bad,
    /// It is not used, which is no fault.
    Off,
}

/// Declares [`ServerState`] from the rows: a state, its name in JSON, its name for people, and its health.
macro_rules! states {
    ($($(#[$meta:meta])* $state:ident $name:literal $label:literal $health:ident;)*) => {
        /// Whether a server can be used.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum ServerState {
            $($(#[$meta])* #[serde(rename = $name)] $state,)*
        }

        impl ServerState {
            /// The state's name, as in JSON.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$state => $name,)*
                }
            }

            /// The state in words.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$state => $label,)*
                }
            }

            /// The server's health in this state.
            pub fn health(self) -> Health {
                match self {
                    $(Self::$state => Health::$health,)*
                }
            }

            /// The state of this name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$state),)*
                    _ => None,
                }
            }
        }
    };
}

states! {
    /// It is being started or reached for the first time.
    #[default]
    Starting "starting" "starting" Changing;
    Ready "ready" "ready" Good;
    /// It answers, but not all of it works: a replica is down, or its tools cannot be listed.
    Degraded "degraded" "degraded" Doubtful;
    /// It ended or cannot be reached; it is tried again.
    Down "down" "down" Bad;
    /// The config says that it is not used.
    Disabled "disabled" "disabled" Off;
    /// Its entry in the config file is wrong.
    Invalid "invalid" "invalid entry" Bad;
    /// A person has to sign in to it first.
    NeedsSignIn "needs_sign_in" "needs sign-in" Doubtful;
    /// A secret of its entry is missing.
    NeedsSecret "needs_secret" "needs a secret" Doubtful;
    /// A lazy server whose process was stopped because no caller used it for a while.
    Stopped "stopped" "stopped (idle)" Off;
}

impl ServerState {
    /// Whether the operator has to do something about it.
    pub fn is_broken(self) -> bool {
        matches!(self.health(), Health::Doubtful | Health::Bad)
    }

    /// The command, without the server's name, that ends a state which an operator chose.
    pub fn ended_by(self) -> Option<&'static str> {
        match self {
            Self::Disabled => Some("powerstrip enable"),
            _ => None,
        }
    }
}

/// Declares [`ServerSwitch`] from the rows: a switch, its name, its button, and what the server is afterwards.
macro_rules! switches {
    ($($(#[$meta:meta])* $switch:ident $name:literal $label:literal $participle:literal;)*) => {
        /// What an operator can do to a server.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ServerSwitch {
            $($(#[$meta])* $switch,)*
        }

        impl ServerSwitch {
            /// All of them, in the order of their buttons.
            pub const ALL: &[Self] = &[$(Self::$switch),*];

            /// Its name in routes and forms.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$switch => $name,)*
                }
            }

            /// Its button.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$switch => $label,)*
                }
            }

            /// Its name in the audit trail.
            pub fn operation(self) -> &'static str {
                match self {
                    $(Self::$switch => concat!("servers.", $name),)*
                }
            }

            /// The participle for the server afterwards, such as `restarted`.
            pub fn participle(self) -> &'static str {
                match self {
                    $(Self::$switch => $participle,)*
                }
            }
        }
    };
}

switches! {
    /// Ends its processes and sessions, and starts it again.
    Restart "restart" "Restart" "restarted";
    /// Sets `disabled` in the config file, and stops it.
    Disable "disable" "Disable" "disabled";
    /// Removes `disabled` from the config file, and starts it.
    Enable "enable" "Enable" "enabled";
}

impl ServerSwitch {
    /// The switch of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|switch| switch.as_str() == name)
    }

    /// Whether it can be done to a server in this state.
    pub fn fits(self, server: &ServerSummary) -> bool {
        match self {
            Self::Restart => !server.disabled && server.state != ServerState::Invalid,
            // A server that registered itself is not in the config file.
            Self::Disable => !server.disabled && server.kind != "registered",
            Self::Enable => server.disabled,
        }
    }

    /// What a person has to confirm first.
    pub fn question(self) -> Option<&'static str> {
        match self {
            Self::Disable => Some("Its tools are no longer served, and calls under way fail."),
            _ => None,
        }
    }

    /// Says that it was done.
    pub fn notice(self) -> String {
        let effect = match self {
            Self::Disable => " Its tools are no longer served.",
            _ => "",
        };
        format!("The server was {}.{effect}", self.participle())
    }

    /// What can be done to a server, as in `restarted, disabled and enabled`.
    pub fn participles() -> String {
        let words: Vec<_> = Self::ALL.iter().map(|switch| switch.participle()).collect();
        let (last, others) = words.split_last().expect("there are switches");
        format!("{} and {last}", others.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Health, ServerState, ServerSummary, ServerSwitch};

    #[test]
    fn a_state_has_one_name() {
        for name in ["starting", "ready", "needs_sign_in", "stopped"] {
            let state = ServerState::named(name).unwrap();
            assert_eq!((json!(state), state.as_str()), (json!(name), name));
        }
        assert_eq!(ServerState::named("idle"), None);
    }

    #[test]
    fn states_that_an_operator_chose_are_not_broken() {
        assert_eq!(ServerState::Disabled.health(), Health::Off);
        assert!(!ServerState::Disabled.is_broken() && !ServerState::Starting.is_broken());
        assert!(ServerState::Degraded.is_broken() && ServerState::Invalid.is_broken());
    }

    #[test]
    fn a_switch_has_the_same_name_in_forms_and_in_the_audit_trail() {
        let switch = ServerSwitch::named("restart").unwrap();
        assert_eq!((switch, switch.operation()), (ServerSwitch::Restart, "servers.restart"));
        assert_eq!(ServerSwitch::named("explode"), None);
        assert_eq!(ServerSwitch::participles(), "restarted, disabled and enabled");
    }

    #[test]
    fn a_switch_is_offered_where_it_does_something() {
        let fitting = |state: ServerState, kind: &str| {
            let disabled = state == ServerState::Disabled;
            let server = ServerSummary {
                state,
                disabled,
                kind: kind.to_owned(),
                ..ServerSummary::default()
            };
            let fits = ServerSwitch::ALL.iter().filter(|switch| switch.fits(&server));
            fits.map(|switch| switch.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(fitting(ServerState::Ready, "stdio"), ["restart", "disable"]);
        assert_eq!(fitting(ServerState::Ready, "registered"), ["restart"]);
        assert_eq!(fitting(ServerState::Invalid, "stdio"), ["disable"]);
        assert_eq!(fitting(ServerState::Disabled, "stdio"), ["enable"]);
    }
}
