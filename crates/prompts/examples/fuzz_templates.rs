//! Evaluates random templates for a while: `fuzz SECONDS [SEED]`. Prints each template that panics or takes longer than a
//! second, and then fails. A process that is killed or aborts shows a template without bounds: run it again with the seed.
#![allow(clippy::print_stdout, reason = "a program of the command line")]

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use prompts::template::{Budget, Engine, UndefinedBehavior, value};
use serde_json::json;

/// Templates that take longer are printed. Evaluations have 0.2 s of CPU time.
const SLOW: Duration = Duration::from_secs(1);

/// The longest template.
const MAX_PIECES: usize = 60;

/// What templates are made of; parts that mean something break more than random characters.
const PIECES: &[&str] = &[
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{% set ns.x = ",
    "{% set x = ",
    "{% for i in ",
    "{% endfor %}",
    "{% if ",
    "{% endif %}",
    "{% set x %}",
    "{% endset %}",
    "{% macro f(x) %}",
    "{% endmacro %}",
    "{% call f(1) %}",
    "{% endcall %}",
    "{% filter upper %}",
    "{% endfilter %}",
    "{% block b %}",
    "{% endblock %}",
    "{% raw %}",
    "{% endraw %}",
    "{# ",
    " #}",
    "range(99999)",
    "range(9)",
    "namespace(x=1)",
    "dict(a=",
    "f(",
    "loop(",
    "caller()",
    "self.b()",
    "ns",
    "ns.x",
    "x",
    "t",
    "list",
    "m",
    "n",
    "loop",
    "loop.index",
    "none",
    "'ab'",
    "'x' * 99999999",
    "1",
    "-1",
    "1e308",
    "9223372036854775807",
    "170141183460469231731687303715884105727",
    "[",
    "]",
    "[[[[",
    "]]]]",
    "(",
    ")",
    "{'a': ",
    "}",
    ",",
    ".a",
    "[0]",
    "[-1]",
    "[::-1]",
    "[1:9:2]",
    "[9:1:-3]",
    " ~ ",
    " + ",
    " * ",
    " - ",
    " ** ",
    " // ",
    " % ",
    " in ",
    " == ",
    " < ",
    " and ",
    " not ",
    " if ",
    " else ",
    " is odd",
    " is in ",
    "|upper",
    "|list",
    "|tojson",
    "|join(t)",
    "|replace('', t)",
    "|sort",
    "|map('upper')",
    "|batch(99999, t)",
    "|slice(9)",
    "|indent(99999)",
    "|items",
    "|groupby('a')",
    "|string",
    "|pprint",
    "|sum",
    "*",
];

/// A generator whose numbers depend on its start alone.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().ok_or("usage: fuzz SECONDS [SEED]")?.parse()?;
    let seed = arguments.next().map_or(Ok(0x2545_f491_4f6c_dd1d), |seed| seed.parse())?;
    println!("seed {seed}");
    let full = Engine::new(500_000, UndefinedBehavior::SemiStrict);
    let expressions = Engine::new(50_000, UndefinedBehavior::Strict).expressions_only();
    let given = json!({"t": "ab<\n".repeat(5_000), "list": vec!["abc"; 5_000], "m": {"a": [1, {"b": 2}]}, "n": 3});
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(seed);
    let (mut tried, mut rendered, mut faults) = (0_u64, 0_u64, 0_u64);
    while Instant::now() < end {
        let mut source = String::from("{% set ns = namespace(x='ab') %}");
        for _ in 0..=random.below(MAX_PIECES) {
            source.push_str(PIECES[random.below(PIECES.len())]);
        }
        tried += 1;
        let start = Instant::now();
        let run = catch_unwind(AssertUnwindSafe(|| {
            let text = full.render(&source, value(&given), 65_536);
            let _ = expressions.evaluate(&source, value(&given), 65_536, &Budget::new());
            text.is_ok_and(|text| text.len() <= 65_536)
        }));
        rendered += u64::from(matches!(run, Ok(true)));
        if run.is_err() || start.elapsed() > SLOW {
            faults += 1;
            println!(
                "{:?} {}: {source}",
                start.elapsed(),
                if run.is_err() { "panics" } else { "slow" }
            );
        }
    }
    println!("{tried} templates, {rendered} rendered, {faults} faults");
    if faults > 0 { Err("there are faults".into()) } else { Ok(()) }
}
