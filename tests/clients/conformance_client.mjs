// The client under test for the client scenarios of the official conformance suite: a gateway with the scenario's server behind it,
// used through `powerstrip login` and `powerstrip call`, and by an MCP client where a scenario needs one that answers questions.
//
// usage: conformance_client.mjs POWERSTRIP NODE_MODULES URL
// The suite appends URL and sets MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION and MCP_CONFORMANCE_CONTEXT.
// Fails with one line on standard error if the gateway does not do what the scenario is about; the suite checks the rest.

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { options, sdk } from './typescript.mjs';

const [powerstrip, modules, url] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const modern = revision >= '2026-07-28';

const SERVER = 'suite';
const STARTS_WITHIN_MS = 60_000;
const LOGINS = 3;

const home = mkdtempSync(path.join(tmpdir(), 'conformance-client-'));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// What the config says about the scenario's server. Secrets are files, as in a real config.
function secretFile(name, text) {
  const file = path.join(home, name);
  writeFileSync(file, text, { mode: 0o600 });
  return { file };
}

async function authorizationServer() {
  // A client with a secret names its issuer; the scenarios that do not say it publish it.
  if (context.issuer) return context.issuer;
  const { origin, pathname } = new URL(url);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  return (await answer.json()).authorization_servers[0];
}

const AUTH = {
  'auth/basic-cimd': () => ({ client_id: 'https://conformance-test.local/client-metadata.json' }),
  'auth/pre-registration': async () => ({
    issuer: await authorizationServer(),
    client_id: context.client_id,
    client_secret: secretFile('client-secret', context.client_secret),
  }),
  'auth/client-credentials-basic': async () => ({
    grant: 'client_credentials',
    issuer: await authorizationServer(),
    client_id: context.client_id,
    client_secret: secretFile('client-secret', context.client_secret),
  }),
  'auth/client-credentials-jwt': async () => ({
    grant: 'client_credentials',
    issuer: await authorizationServer(),
    client_id: context.client_id,
    private_key: secretFile('key.pem', context.private_key_pem),
  }),
  'auth/enterprise-managed-authorization': async () => ({
    grant: 'identity_assertion',
    issuer: await authorizationServer(),
    client_id: context.client_id,
    client_secret: secretFile('client-secret', context.client_secret),
    subject_token: secretFile('id-token', context.idp_id_token),
    identity_provider: { issuer: context.idp_issuer, client_id: context.idp_client_id },
  }),
  'auth/wif-jwt-bearer': async () => ({
    grant: 'jwt_bearer',
    issuer: await authorizationServer(),
    client_id: context.client_id,
    subject_token: secretFile('workload.jwt', context.valid_jwt),
  }),
};

// Scenarios in which a login must fail, and what the message must then say.
const REFUSED = {
  'auth/resource-mismatch': /another resource/,
  'auth/metadata-issuer-mismatch': /another issuer/,
  'auth/scope-retry-limit': /scopes that were requested already/,
};

// Scenarios in which the browser must come back to a page that refuses, and what it must say.
const REFUSED_IN_BROWSER = {
  'auth/iss-supported-missing': /issuer/,
  'auth/iss-wrong-issuer': /issuer/,
  'auth/iss-unexpected': /issuer/,
  'auth/iss-normalized': /issuer/,
};

// Runs powerstrip; answers with what it printed as JSON, or with its message.
function command(...args) {
  return new Promise((resolve) => {
    execFile(powerstrip, [...args, '--json', '--config', path.join(home, 'powerstrip.yaml')], (error, stdout, stderr) => {
      let json;
      try {
        json = JSON.parse(stdout);
      } catch {
        json = undefined;
      }
      resolve({ ok: !error, json, message: stderr.trim() });
    });
  });
}

let gateway;
let log = '';

async function startGateway() {
  const server = { url, prefix: false };
  if (AUTH[scenario]) server.auth = await AUTH[scenario]();
  // JSON is YAML. The scenario's authorization server has a port of its own.
  const config = { listen: '127.0.0.1:0', egress: { allow: ['localhost', '127.0.0.1'] }, servers: { [SERVER]: server } };
  writeFileSync(path.join(home, 'powerstrip.yaml'), JSON.stringify(config));
  gateway = spawn(powerstrip, ['serve', '--config', 'powerstrip.yaml'], { cwd: home, stdio: ['ignore', 'ignore', 'pipe'] });
  gateway.stderr.on('data', (part) => {
    log += part;
  });
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (Date.now() < deadline && gateway.exitCode === null) {
    const address = log.match(/^powerstrip .* on (http:\/\/[0-9.]+:\d+).*\n/m);
    if (address) return address[1];
    await pause(20);
  }
  throw new Error(`the gateway did not start: ${log.trim().split('\n').pop()}`);
}

// Keeps cookies and follows redirects; answers with the last page.
const cookies = new Map();
async function browse(target, init = {}) {
  let next = new URL(target);
  let request = init;
  for (;;) {
    const headers = { ...request.headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
    const answer = await fetch(next, { ...request, headers, redirect: 'manual' });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = cookie.match(/^([^=]+)=([^;]*)/);
      if (value) cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (!location) return { status: answer.status, text: await answer.text(), url: next };
    next = new URL(location, next);
    request = {};
  }
}

// Opens a link, agrees, and comes back from the authorization server, which the suite's agrees at once.
async function followLink(link) {
  const page = await browse(link);
  if (page.status !== 200) throw new Error(`the login page answers HTTP ${page.status}`);
  const fields = new URLSearchParams();
  for (const [input] of page.text.matchAll(/<input [^>]*>/g)) {
    const [name, value] = ['name', 'value'].map((key) => input.match(new RegExp(`${key}="([^"]*)"`))?.[1]);
    if (name) fields.set(name, value ?? '');
  }
  const form = new URL(page.url);
  form.search = '';
  const content = { 'content-type': 'application/x-www-form-urlencoded', origin: form.origin };
  return browse(form, { method: 'POST', headers: content, body: fields.toString() });
}

async function logIn() {
  for (let round = 0; round < LOGINS; round += 1) {
    const login = await command('login', SERVER);
    if (!login.ok && REFUSED[scenario]?.test(login.message)) return false;
    if (!login.ok) throw new Error(`login: ${login.message}`);
    if (!login.json.login) {
      if (REFUSED[scenario]) throw new Error('the login is not refused');
      return true;
    }
    const page = await followLink(login.json.login);
    if (REFUSED_IN_BROWSER[scenario]) {
      if (page.status === 200) throw new Error('the answer of another issuer is accepted');
      if (!REFUSED_IN_BROWSER[scenario].test(page.text)) throw new Error('the page that refuses does not say why');
      return false;
    }
    if (page.status !== 200) throw new Error(`the login ends with HTTP ${page.status}: ${page.text.replace(/<[^>]*>|\s+/g, ' ')}`);
  }
  throw new Error(`still asked to log in after ${LOGINS} logins`);
}

// Calls a tool as soon as it is listed; follows the links of calls that need a login with more scopes.
async function call(tool, input = {}) {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  let logins = 0;
  for (;;) {
    const { json, message } = await command('call', `${SERVER}:${tool}`, '--input', JSON.stringify(input));
    if (json?.ok) return json;
    const error = json?.errors?.[0];
    // With a state where the server has not listed its tools yet.
    const unknown = error?.code === 'NOT_FOUND' || error?.details?.state !== undefined;
    if (unknown && Date.now() < deadline) {
      await pause(100);
    } else if (error?.details?.login && logins < LOGINS) {
      logins += 1;
      await followLink(error.details.login);
    } else {
      throw new Error(`${tool}: ${error?.code}: ${error?.message ?? message}`);
    }
  }
}

async function untilListed() {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  for (;;) {
    const { json } = await command('servers');
    const servers = json?.servers ?? json;
    if (servers?.[0]?.state === 'ready' && servers[0].listAgeMs !== null) return servers[0];
    if (Date.now() > deadline) throw new Error(`the server is not ready: ${JSON.stringify(servers)}`);
    await pause(100);
  }
}

// An MCP client of the gateway, which accepts every question with what the defaults say.
async function connect(address) {
  const mode = modern ? '2026-07-28' : 'legacy';
  const { Client, StreamableHTTPClientTransport } = sdk(modules, mode);
  const client = new Client({ name: 'conformance', version: '1.0.0' }, options(mode, { elicitation: { form: { applyDefaults: true } } }));
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: {} }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)));
  return client;
}

const RUNS = {
  initialize: untilListed,
  'request-metadata': untilListed,
  'json-schema-ref-no-deref': untilListed,
  tools_call: () => call('add_numbers', { a: 5, b: 3 }),
  'sse-retry': () => call('test_reconnection'),
  async 'http-standard-headers'(address) {
    await call('test_headers');
    await call('my-hyphenated-tool');
    const client = await connect(address);
    const { resources } = await client.listResources();
    for (const { uri } of resources) await client.readResource({ uri });
    const { prompts } = await client.listPrompts();
    for (const { name } of prompts) await client.getPrompt({ name });
    await client.close();
    if (resources.length < 2 || prompts.length < 1) throw new Error('the gateway does not list the resources or prompts');
  },
  async 'http-custom-headers'() {
    for (const { name, arguments: input } of context.toolCalls) await call(name, input);
  },
  'http-invalid-tool-headers': () => call('valid_tool', { region: 'us-west1' }),
  async 'elicitation-sep1034-client-defaults'(address) {
    await untilListed();
    const client = await connect(address);
    await client.callTool({ name: 'test_client_elicitation_defaults', arguments: {} });
    await client.close();
  },
  async 'sep-2322-client-request-state'(address) {
    await untilListed();
    const client = await connect(address);
    const tools = ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_unrelated', 'test_mrtr_no_result_type'];
    await Promise.all(tools.map((name) => client.callTool({ name, arguments: {} })));
    await client.close();
  },
  async 'json-schema-2020-12-preservation'(address) {
    await untilListed();
    const client = await connect(address);
    const { tools } = await client.listTools();
    await client.close();
    const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await call('json_schema_echo', { schema: inputSchema });
  },
};

async function stop() {
  if (gateway && gateway.exitCode === null) {
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    const timer = setTimeout(() => gateway.kill('SIGKILL'), 5_000);
    gateway.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }
  rmSync(home, { recursive: true, force: true });
}

try {
  const address = await startGateway();
  if (RUNS[scenario]) await RUNS[scenario](address);
  else if (await logIn()) await call('test-tool');
} catch (error) {
  if (process.env.VERBOSE) console.error(log);
  console.error(`client: ${String(error?.message ?? error).replace(/\s+/g, ' ')}`);
  process.exitCode = 1;
} finally {
  await stop();
}
