//! Our own capability servers together, as programs that register themselves at a real gateway.

mod chain;
mod contract;
mod failing;
mod support;
mod videos;
