//! What users and attackers meet: a real gateway process, spoken to through its doors.

mod crash;
mod guardrails;
mod large_inputs;
mod packs;
mod parity;
mod reload;
mod tool_attacks;
mod unserved;
