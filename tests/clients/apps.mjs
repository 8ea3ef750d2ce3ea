// Plays the host of MCP Apps with the extension's own library: an app in memory instead of an iframe.
//
// usage: apps.mjs NODE_MODULES MODE URL SERVER=HTML...
// MODE is legacy or 2026-07-28. Each SERVER is an example server behind the gateway, HTML the file of its app. All have a tool
// `get-time` with an app at the same URI. With one client of 2026-07-28 for all, only the first app can be distinguished.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { options, sdk, wrongEra } from './typescript.mjs';

const [modules, mode, url, ...servers] = process.argv.slice(2);
const resolve = createRequire(`${modules}/here.cjs`).resolve;
const load = (name) => import(pathToFileURL(resolve(name)).href);
const UI = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

function check(good, reason) {
  if (!good) {
    console.error(String(reason).replace(/\s+/g, ' '));
    process.exit(1);
  }
}

async function host() {
  const { Client, StreamableHTTPClientTransport } = sdk(modules, mode);
  const declared = { ...options(mode), capabilities: { extensions: UI } };
  const client = new Client({ name: 'powerstrip-check', version: '1.0.0' }, declared);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  check(!wrongEra(client, mode), wrongEra(client, mode));
  return client;
}

// Shows an app whose calls go to the client, as a host does.
async function show(client) {
  const { InMemoryTransport } = sdk(modules, mode);
  const { AppBridge } = await load('@modelcontextprotocol/ext-apps/app-bridge');
  const { App } = await load('@modelcontextprotocol/ext-apps');
  const bridge = new AppBridge(client, { name: 'host', version: '1.0.0' }, { serverTools: {}, serverResources: {} });
  const app = new App({ name: 'app', version: '1.0.0' }, {}, { autoResize: false });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([bridge.connect(ours), app.connect(theirs)]);
  return app;
}

try {
  const { getToolUiResourceUri } = await load('@modelcontextprotocol/ext-apps/app-bridge');
  const uris = new Set();
  for (const [place, [server, html]] of servers.map((text) => text.split('=')).entries()) {
    const client = await host();
    const { tools } = await client.listTools();
    const tool = tools.find((listed) => listed.name === `${server}__get-time`);
    check(tool, `tools/list does not name ${server}__get-time`);
    const uri = getToolUiResourceUri(tool);
    check(uri?.startsWith('ui://') && !uris.has(uri), `the app of ${server} is at ${uri}`);
    uris.add(uri);
    check(tool._meta['ui/resourceUri'] === uri, 'the two keys name different apps');
    const { contents } = await client.readResource({ uri });
    check(contents[0].uri === uri && contents[0].mimeType === 'text/html;profile=mcp-app', `${uri}: ${contents[0].mimeType}`);
    check(contents[0].text === readFileSync(html, 'utf8'), `${uri} is not the app of ${server}`);

    const shown = await client.callTool({ name: tool.name, arguments: {} });
    check(!shown.isError, JSON.stringify(shown.content));
    const app = await show(client);
    const called = app.callServerTool({ name: 'get-time', arguments: {} });
    if (place > 0 && mode !== 'legacy') {
      const refused = await called.then((result) => result.content?.[0]?.text, (error) => error.message);
      check(/name the server/.test(refused), `the apps of several servers are open: ${refused}`);
    } else {
      const answer = (await called)._meta?.['powerstrip/call']?.tool;
      check(answer === `${server}:get-time`, `the app of ${server} called ${answer}`);
    }
    await client.close();
  }
} catch (error) {
  check(false, error?.stack ?? error);
}
process.exit(0);
