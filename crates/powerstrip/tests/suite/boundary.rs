//! The boundary that users and attackers see: a real gateway process and its doors.

mod crash;
mod guardrails;
mod integers;
mod json_text;
mod large_inputs;
mod packs;
mod parity;
mod postgres;
mod reload;
mod tool_attacks;
mod unserved;
