// Lists and calls one tool with an official TypeScript client, version 1 or 2.
//
// usage: typescript_client.mjs NODE_MODULES MODE TOOL ARGUMENTS EXPECTED (http URL | stdio COMMAND ARGS...)
// MODE is auto, legacy, 2026-07-28 (version 2), or v1.

import { all, options, sdk, wrongEra } from './typescript.mjs';

const [modules, mode, tool, args, expected, kind, ...target] = process.argv.slice(2);

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

const { Client, StreamableHTTPClientTransport, StdioClientTransport } = sdk(modules, mode);
const client = new Client({ name: 'powerstrip-check', version: '1.0.0' }, options(mode));
const transport =
  kind === 'http'
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'ignore' });

try {
  await client.connect(transport);
  const wrong = wrongEra(client, mode);
  if (wrong) fail(wrong);
  const names = (await all((page) => client.listTools(page), 'tools')).map((listed) => listed.name);
  if (!names.includes(tool)) fail(`tools/list names ${names.length} tools, ${tool} is not among them`);
  const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
  const text = result.content.map((block) => block.text ?? '').join('');
  if (result.isError) fail(`tools/call failed: ${text}`);
  if (result.content.length === 0 || !text.includes(expected)) fail(`tools/call answered ${JSON.stringify(text)}`);
  await client.close();
} catch (error) {
  // Version 1 puts its reasons on many lines; a verdict has one.
  fail(String(error?.message ?? error).replace(/\s+/g, ' '));
}
