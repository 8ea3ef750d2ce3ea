//! The program that the tests of this crate start as launcher and as reader.

use reading::{Done, Refused, Work};
use serde_json::{Value, json};

/// Turns bytes around, refuses, panics, allocates or never ends, as its options say.
fn turn_around(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    match options["does"].as_str() {
        Some("refuse") => Err(Refused::new("upside_down", "it cannot be turned around")),
        Some("panic") => panic!("by its options"),
        Some("allocate") => {
            let filled = vec![1_u8; 2 << 30];
            Ok(Done::new(json!(filled.len())))
        }
        Some("loop") => loop {
            std::hint::spin_loop();
        },
        _ => {
            let value = json!({"length": bytes.len(), "options": options});
            Ok(Done { value, bytes: bytes.into_iter().rev().collect() })
        }
    }
}

fn main() {
    egress::sandbox::maybe_run_launcher();
    reading::maybe_run_reader_with(&[Work::new("turn-around", turn_around)]);
}
