//! One pack of each kind; all answer with the given message.

use testkit::Service;

pub(crate) struct Pack {
    pub(crate) id: &'static str,
    pub(crate) files: Vec<(String, String)>,
}

const SCHEMAS: &str = "
inputSchema: { type: object, required: [message], properties: { message: { type: string, description: What to say. } } }
outputSchema: { type: object, required: [echo], properties: { echo: { type: string } } }
";

/// The text of a pack: its id, its execution, and further keys.
pub(crate) fn pack(id: &str, execution: &str, more: &str) -> String {
    format!(
        "id: {id}\nversion: 1.0.0\ndescription: Answers with the message that it was given, unchanged.\n\
         {SCHEMAS}execution: {execution}\n{more}\n"
    )
}

/// A pack that runs a Python script; input and answer are any object.
pub(crate) fn python(id: &str, script: &str, more: &str) -> Vec<(String, String)> {
    let yaml = format!(
        "id: {id}\nversion: 1.0.0\ndescription: A script that a test wrote to see what becomes of it.\n\
         inputSchema: {{ type: object }}\noutputSchema: {{ type: object }}\n\
         execution: {{ kind: python, script: ./{id}.py }}\n{more}\n"
    );
    vec![(format!("tools/{id}.py"), script.to_owned()), (format!("tools/{id}.tool.yaml"), yaml)]
}

/// A command whose argument is the message; it prints the value of `expression`.
pub(crate) fn cli(expression: &str) -> String {
    format!(
        "{{ kind: cli, cmd: [python3, -c, \"import json, sys; print({expression})\", '{{{{ input.message }}}}'] }}"
    )
}

pub(crate) fn all_kinds(service: &Service) -> Vec<Pack> {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let yaml = |id: &str, execution: &str, more: &str| {
        (format!("tools/{id}.tool.yaml"), pack(id, execution, more))
    };
    let python = "import json, sys\nprint(json.dumps({'echo': json.loads(sys.stdin.readline())['input']['message']}))\n";
    let module = "def say(input):\n    return {'echo': input['message']}\n";
    let node = "const line = require('fs').readFileSync(0, 'utf8');\nconsole.log(JSON.stringify({echo: JSON.parse(line).input.message}));\n";
    let php = "<?php\n$line = fgets(STDIN);\necho json_encode(['echo' => json_decode($line, true)['input']['message']]), \"\\n\";\n";
    let http = format!("{{ kind: http, url: '{}', method: POST }}", service.url("/echo"));
    vec![
        Pack {
            id: "kind.cli",
            files: vec![yaml("kind.cli", &cli("json.dumps({'echo': sys.argv[1]})"), "")],
        },
        Pack {
            id: "kind.python_script",
            files: vec![
                file("tools/say_script.py", python),
                yaml("kind.python_script", "{ kind: python, script: ./say_script.py }", ""),
            ],
        },
        Pack {
            id: "kind.python_module",
            files: vec![
                file("tools/saying.py", module),
                yaml(
                    "kind.python_module",
                    "{ kind: python, module: 'saying:say', workers: 1 }",
                    "",
                ),
            ],
        },
        Pack {
            id: "kind.node",
            files: vec![
                file("tools/say.js", node),
                yaml("kind.node", "{ kind: node, node: ./say.js }", ""),
            ],
        },
        Pack {
            id: "kind.php",
            files: vec![
                file("tools/say.php", php),
                yaml("kind.php", "{ kind: php, php: ./say.php }", ""),
            ],
        },
        Pack {
            id: "kind.http",
            files: vec![yaml(
                "kind.http",
                &http,
                "caps: { network: [http] }\nonSuccess: { path: '$' }",
            )],
        },
    ]
}
