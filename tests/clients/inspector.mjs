// Reads what the Inspector printed for tools/list and tools/call, and judges it.
//
// usage: inspector.mjs TOOL EXPECTED LIST_FILE CALL_FILE

import { readFileSync } from 'node:fs';

const [tool, expected, listFile, callFile] = process.argv.slice(2);

// The JSON format wraps the result; older versions printed it bare.
function result(file) {
  const printed = JSON.parse(readFileSync(file, 'utf8'));
  return printed.result ?? printed;
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

const names = result(listFile).tools.map((listed) => listed.name);
if (!names.includes(tool)) fail(`tools/list names ${names.length} tools, ${tool} is not among them`);
const answer = result(callFile);
const text = (answer.content ?? []).map((block) => block.text ?? '').join('');
if (answer.isError) fail(`tools/call failed: ${text}`);
if (!answer.content?.length || !text.includes(expected)) fail(`tools/call answered ${JSON.stringify(text)}`);
