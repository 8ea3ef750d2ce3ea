// A server of both eras with the official TypeScript SDK, with what the conformance suite of 2025-11-25 asks for.
//
// usage: typescript_server.mjs NODE_MODULES
// Prints its URL. Requests of 2025-11-25 and before have sessions, those of 2026-07-28 have none.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const resolve = createRequire(`${process.argv[2]}/`).resolve;
const load = async (name) => import(pathToFileURL(resolve(name)).href);
const { McpServer, ResourceTemplate, completable, createMcpHandler, fromJsonSchema, isLegacyRequest } = await load(
  '@modelcontextprotocol/server',
);
const { NodeStreamableHTTPServerTransport, localhostHostValidation, localhostOriginValidation, toNodeHandler, toWebRequest } =
  await load('@modelcontextprotocol/node');
const { z } = await load('zod');

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const text = (text) => ({ type: 'text', text });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const embedded = (uri) => ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'This is an embedded resource content.' } });
const pause = () => new Promise((done) => setTimeout(done, 20));

function serverOf() {
  const server = new McpServer(
    { name: 'typescript-conformance', version: '1' },
    { capabilities: { logging: {}, completions: {}, resources: { subscribe: true }, tools: { listChanged: true } } },
  );
  const tool = (name, inputSchema, run) => server.registerTool(name, { description: `Tests ${name}.`, inputSchema: z.object(inputSchema) }, run);
  const says = (name, ...content) => tool(name, {}, async () => ({ content }));
  says('test_simple_text', text('This is a simple text response for testing.'));
  says('test_image_content', image);
  says('test_audio_content', { type: 'audio', data: SILENCE, mimeType: 'audio/wav' });
  says('test_embedded_resource', embedded('test://embedded-resource'));
  says('test_multiple_content_types', text('Multiple content types test:'), image, embedded('test://mixed-content-resource'));
  tool('test_error_handling', {}, async () => ({ isError: true, content: [text('This tool intentionally returns an error for testing')] }));
  tool('test_tool_with_logging', {}, async (_input, ctx) => {
    for (const step of ['started', 'processing data', 'completed']) {
      await ctx.mcpReq.log('info', `Tool execution ${step}`);
      await pause();
    }
    return { content: [text('done')] };
  });
  tool('test_tool_with_progress', {}, async (_input, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await pause();
    }
    return { content: [text(String(progressToken))] };
  });
  tool('test_reconnection', {}, async (_input, ctx) => {
    await ctx.mcpReq.log('info', 'before the stream ends');
    ctx.http?.closeSSE?.();
    await new Promise((done) => setTimeout(done, 200));
    await ctx.mcpReq.log('info', 'after the stream has ended');
    return { content: [text('Reconnection test completed')] };
  });
  server.registerTool('json_schema_2020_12_tool', { description: 'Keeps its schema.', inputSchema: fromJsonSchema(SCHEMA) }, async () => ({
    content: [text('kept')],
  }));
  tool('test_sampling', { prompt: z.string() }, async ({ prompt }, ctx) => {
    const asked = { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 };
    const answer = await ctx.mcpReq.requestSampling(asked);
    return { content: [text(`LLM response: ${answer.content.text}`)] };
  });
  const elicits = (name, inputSchema, form) =>
    tool(name, inputSchema, async (input, ctx) => {
      const answer = await ctx.mcpReq.elicitInput({ mode: 'form', ...form(input) });
      return { content: [text(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`)] };
    });
  const form = (properties, required = []) => ({ message: 'Please answer', requestedSchema: { type: 'object', properties, required } });
  elicits('test_elicitation', { message: z.string() }, ({ message }) => ({
    ...form({ username: { type: 'string' }, email: { type: 'string' } }, ['username']),
    message,
  }));
  elicits('test_elicitation_sep1034_defaults', {}, () =>
    form({
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  );
  const titled = (...names) => names.map((name) => ({ const: name, title: `Option ${name}` }));
  elicits('test_elicitation_sep1330_enums', {}, () =>
    form({
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled('value1', 'value2', 'value3') },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled('value1', 'value2', 'value3') } },
    }),
  );

  const contents = (uri, body) => ({ contents: [{ uri, ...body }] });
  server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, async (uri) =>
    contents(uri.href, { mimeType: 'text/plain', text: 'This is the content of the static text resource.' }),
  );
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, async (uri) =>
    contents(uri.href, { mimeType: 'image/png', blob: PIXEL }),
  );
  server.registerResource('watched-resource', 'test://watched-resource', { mimeType: 'text/plain' }, async (uri) =>
    contents(uri.href, { mimeType: 'text/plain', text: 'Watched resource content' }),
  );
  server.registerResource('template', new ResourceTemplate('test://template/{id}/data', { list: undefined }), {}, async (uri, { id }) =>
    contents(uri.href, { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }),
  );
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) server.server.setRequestHandler(method, async () => ({}));

  const says_prompt = (name, argsSchema, messages) =>
    server.registerPrompt(name, { description: `Tests ${name}.`, ...(argsSchema && { argsSchema: z.object(argsSchema) }) }, async (input) => ({
      messages: messages(input).map((content) => ({ role: 'user', content })),
    }));
  says_prompt('test_simple_prompt', undefined, () => [text('This is a simple prompt for testing.')]);
  says_prompt(
    'test_prompt_with_arguments',
    { arg1: completable(z.string(), () => []), arg2: z.string() },
    ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  );
  says_prompt('test_prompt_with_embedded_resource', { resourceUri: z.string() }, ({ resourceUri }) => [embedded(resourceUri), text('Please process it.')]);
  says_prompt('test_prompt_with_image', undefined, () => [image, text('Please analyze the image above.')]);
  return server;
}

// Keeps the events of streams that end before their answer.
class Events {
  #kept = [];

  async storeEvent(stream, message) {
    this.#kept.push({ stream, message });
    return String(this.#kept.length);
  }

  async replayEventsAfter(last, { send }) {
    const stream = this.#kept[Number(last) - 1]?.stream;
    for (const [index, event] of this.#kept.entries()) {
      const primes = event.message === undefined || Object.keys(event.message).length === 0;
      if (index >= Number(last) && event.stream === stream && !primes) await send(String(index + 1), event.message);
    }
    return stream;
  }
}

const sessions = new Map();
const modern = toNodeHandler(createMcpHandler(serverOf, { legacy: 'reject' }));
const guards = [localhostHostValidation(), localhostOriginValidation()];

async function serveLegacy(request, response, body) {
  const known = request.headers['mcp-session-id'];
  if (known !== undefined) {
    const transport = sessions.get(known);
    if (transport) return transport.handleRequest(request, response, body);
    response.writeHead(404).end();
    return undefined;
  }
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new Events(),
    retryInterval: 100,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  transport.onclose = () => sessions.delete(transport.sessionId);
  await serverOf().connect(transport);
  return transport.handleRequest(request, response, body);
}

async function bodyOf(request) {
  let body = '';
  for await (const piece of request) body += piece;
  return body === '' ? undefined : JSON.parse(body);
}

const listening = createServer(async (request, response) => {
  try {
    if (!guards.every((guard) => guard(request, response))) return;
    const body = await bodyOf(request);
    const legacy = await isLegacyRequest(await toWebRequest(request, body), body);
    await (legacy ? serveLegacy(request, response, body) : modern(request, response, body));
  } catch (error) {
    console.error(error);
    if (!response.headersSent) response.writeHead(500).end();
  }
});
listening.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listening.address().port}/mcp`));
