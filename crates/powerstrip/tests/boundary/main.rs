//! What users and attackers meet: a real gateway process, spoken to through its doors.

mod guardrails;
mod packs;
mod parity;
mod reload;
mod tool_attacks;
