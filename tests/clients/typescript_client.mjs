// Lists and calls one tool with an official TypeScript client, version 1 or 2.
//
// usage: typescript_client.mjs NODE_MODULES MODE TOOL ARGUMENTS EXPECTED (http URL | stdio COMMAND ARGS...)
// MODE is auto, legacy, 2026-07-28 (version 2), or v1.

import { createRequire } from 'node:module';
import path from 'node:path';

const [modules, mode, tool, args, expected, kind, ...target] = process.argv.slice(2);
const MODERN = '2026-07-28';

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

// Required by path, since the packages live outside the checkout.
const load = createRequire(path.join(modules, 'here.cjs'));

function connectors() {
  if (mode === 'v1') {
    const sdk = '@modelcontextprotocol/sdk/client';
    return { ...load(`${sdk}/index.js`), ...load(`${sdk}/streamableHttp.js`), ...load(`${sdk}/stdio.js`) };
  }
  return { ...load('@modelcontextprotocol/client'), ...load('@modelcontextprotocol/client/stdio') };
}

const { Client, StreamableHTTPClientTransport, StdioClientTransport } = connectors();
const negotiation = { auto: 'auto', legacy: 'legacy', [MODERN]: { pin: MODERN } }[mode];
const client = new Client(
  { name: 'powerstrip-check', version: '1.0.0' },
  negotiation ? { versionNegotiation: { mode: negotiation } } : {},
);
const transport =
  kind === 'http'
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'ignore' });

try {
  await client.connect(transport);
  if (negotiation) {
    const version = client.getNegotiatedProtocolVersion();
    if ((mode === 'legacy') === (version >= MODERN)) fail(`mode ${mode} ended at revision ${version}`);
  }
  const names = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    names.push(...page.tools.map((listed) => listed.name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  if (!names.includes(tool)) fail(`tools/list names ${names.length} tools, ${tool} is not among them`);
  const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
  const text = result.content.map((block) => block.text ?? '').join('');
  if (result.isError) fail(`tools/call failed: ${text}`);
  if (result.content.length === 0 || !text.includes(expected)) fail(`tools/call answered ${JSON.stringify(text)}`);
  await client.close();
} catch (error) {
  fail(String(error?.message ?? error));
}
