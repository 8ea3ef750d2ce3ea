use egress::{
    http::{AddressPolicy, Client, OwnListeners},
    process::Runner,
    sandbox::Mode,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use strip::Tool;
fn main() {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
 for bad in [r##"{"$ref":"#"}"##, r##"{"allOf":[{"$ref":"#"}]}"##] { if std::env::args().nth(1).is_some() { let s=strip::Schema::compile(&serde_json::from_str(bad).unwrap()); println!("{bad} {:?}", s.map(|s| s.violations(&serde_json::json!(1)).len()).map_err(|e|e.to_string())); } }
 let d=tempfile::tempdir().unwrap(); let t=d.path().join("tools"); std::fs::create_dir(&t).unwrap();
 std::fs::write(t.join("m.py"),"def f(input):\n    return {'n': input['n']}\n").unwrap();
 std::fs::write(t.join("s.py"),"import json,sys\nprint(json.dumps({'n': json.loads(sys.stdin.readline())['input']['n']}))\n").unwrap();
 std::fs::write(t.join("s.js"),"module.exports = (input) => ({n: input.n});\n").unwrap();
 std::fs::write(t.join("s.php"),"<?php\nreturn fn($input) => ['n' => $input['n']];\n").unwrap();
 for (n,e) in [("cold_mod","python, module: 'm:f'"),("warm_mod","python, module: 'm:f', workers: 1"),("cold_script","python, script: s.py"),("warm_script","python, script: s.py, workers: 1"),("cold_node","node, node: s.js"),("warm_node","node, node: s.js, workers: 1"),("cold_php","php, php: s.php"),("warm_php","php, php: s.php, workers: 1")] {
  std::fs::write(t.join(format!("{n}.tool.yaml")), format!("id: {n}\nversion: 1.0.0\ninputSchema: {{}}\noutputSchema: {{}}\nexecution: {{kind: {e}}}\n")).unwrap(); }
 let exe=std::env::current_exe().unwrap(); let l=exe.parent().unwrap().parent().unwrap().join("toolpack-launcher");
 let rt=Arc::new(toolpack::Runtime{runner:Arc::new(Runner::with_launcher(l).await.unwrap()),http:Client::new(AddressPolicy::new(vec![],OwnListeners::default())).unwrap(),environment:BTreeMap::new(),sandbox:Mode::Auto,max:Default::default()});
 let packs=toolpack::Toolpacks::new(vec![t],rt); let loaded=packs.load(); println!("{:?}",loaded.findings);
 for tool in &loaded.tools { let p=Arc::new(proto::Principal{tenant:proto::TenantId::new("t"),subject:"s".into(),agent:None,scopes:vec![]});
  let call=strip::Call::new("x",serde_json::json!({"n":1}),p,strip::Door::Cli);
  tool.run(&call).await.unwrap(); let n=if tool.descriptor().id.as_str().starts_with("cold"){20}else{1000}; let b=Instant::now(); for _ in 0..n { tool.run(&call).await.unwrap(); }
  println!("{} {:?}/call tier {:?}",tool.descriptor().id,b.elapsed()/n, tool.health().tier); }
 });
}
