//! Prints the blocks of pages with their features, which `training/train.py` learns from.
//!
//! Reads rows `{"id", "url", "html"}` from standard input. Prints the names of the features, then a line per page.
#![allow(clippy::print_stdout, reason = "a program of the command line")]

use std::io::BufRead as _;

use documents::main_content::{feature_names, samples};
use documents::{Limits, Options};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", json!(feature_names()));
    for line in std::io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let options = Options { url: Some(text("url")), ..Options::new("text/html") };
        let samples = samples(text("html").as_bytes(), &options, &Limits::default())?;
        let texts: Vec<&str> = samples.iter().map(|sample| sample.text.as_str()).collect();
        let features: Vec<&[f32]> = samples.iter().map(|sample| &*sample.features).collect();
        let around: Vec<_> = samples.iter().map(|sample| &sample.around).collect();
        let alike: Vec<usize> = samples.iter().map(|sample| sample.alike).collect();
        let page = json!({
            "id": text("id"), "texts": texts, "features": features, "around": around, "alike": alike,
        });
        println!("{page}");
    }
    Ok(())
}
