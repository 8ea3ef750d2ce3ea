pub mod browser;
pub mod http;
pub mod process;
pub mod proxy;
pub mod sandbox;
